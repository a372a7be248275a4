// Hosted wallets: what they hold, what each may send, and the commands that change it. Whatever widens what money can do is done by
// the command line, not by whoever has a browser's session.
import { html } from "hono/html";
import type { HostedWallet } from "../../database/database.js";
import type { GatewayParts } from "../../parts.js";
import type { Html } from "../layout.js";
import { amountText, networkText } from "../show.js";

/** A node that does not answer holds up no page. */
const BALANCE_MS = 3_000;

type Parts = Pick<GatewayParts, "database" | "networks">;

export async function renderWallets({ database, networks }: Parts, account: string): Promise<Html> {
  const wallets = await database.wallets.list(account);
  const shown = await Promise.all(
    wallets.map(async (wallet) => renderWallet(networks, wallet, await balancesOf(networks, wallet))),
  );
  return html`${shown.length > 0 ? shown : html`<p>There is no hosted wallet yet. The gateway sends payments from one, up to the limits that you set:</p>`}
    <h2>Make one, or change its limits</h2>
    <p class="soft">These widen what money can do, and are done on the command line.</p>
    <pre>tollgate wallets create --account ${account} --name NAME --family evm --limit "NETWORK ASSET AMOUNT/payment AMOUNT/day"
tollgate wallets limit --help</pre>`;
}

function renderWallet(networks: Parts["networks"], wallet: HostedWallet, balances: readonly Balance[]): Html {
  const { id, name, address, limits, mode } = wallet;
  return html`<section class="panel" aria-label="${name}"><h2>${name} <span class="tag">${mode}</span></h2>
    <p><code>${address}</code><br /><span class="soft">${id}</span></p>
    <table class="cards"><thead><tr><th scope="col">Network</th><th scope="col">Holds</th></tr></thead>
      <tbody>${balances.map(({ network, text }) => html`<tr><td data-label="Network">${network}</td><td data-label="Holds">${text}</td></tr>`)}</tbody></table>
    ${
      limits.length === 0
        ? html`<p>It has no limit, and so it sends nothing.</p>`
        : html`<table class="cards">
      <thead><tr><th scope="col">May send on</th><th scope="col">At once</th><th scope="col">In 24 hours</th></tr></thead>
      <tbody>${limits.map(
        ({ network, asset, perPayment, perDay }) => html`<tr><td data-label="May send on">${networkText(network)}</td>
          <td data-label="At once">${amountText(networks, { network, asset, amount: perPayment })}</td>
          <td data-label="In 24 hours">${amountText(networks, { network, asset, amount: perDay })}</td></tr>`,
      )}</tbody></table>`
    }
  </section>`;
}

interface Balance {
  readonly network: string;
  readonly text: string;
}

function balancesOf(networks: Parts["networks"], { family, mode, address }: HostedWallet): Promise<readonly Balance[]> {
  const signal = AbortSignal.timeout(BALANCE_MS);
  const served = networks.all.filter(
    ({ network }) => network.family === family && network.testnet === (mode === "test"),
  );
  return Promise.all(
    served.flatMap(({ network, assets, transfers }) =>
      assets.map(async (asset): Promise<Balance> => {
        const held = await transfers.balance(address, asset, signal);
        const text = held.ok
          ? amountText(networks, { network: network.id, asset: asset.address, amount: held.value })
          : `${asset.symbol}: the node does not answer`;
        return { network: networkText(network.id), text };
      }),
    ),
  );
}
