// Hosted wallets: what they hold, what each may send and has sent, and the form for a limit. A wallet is made and imported on the
// command line, because a private key is nothing for a browser.
import { html } from "hono/html";
import type { HostedWallet, Spent } from "../../database/database.js";
import type { GatewayParts } from "../../parts.js";
import { shareOf } from "../chart.js";
import { actionForm, type Html } from "../layout.js";
import type { Place } from "../place.js";
import type { Session } from "../session.js";
import { amountText, networkText } from "../show.js";

/** A node that does not answer holds up no page. */
const BALANCE_MS = 3_000;

type Parts = Pick<GatewayParts, "database" | "networks">;

export async function renderWallets(
  { database, networks }: Parts,
  place: Place,
  session: Session,
  problem?: string,
): Promise<Html> {
  const { id: account } = session.account;
  const wallets = await database.wallets.list(account);
  const shown = await Promise.all(
    wallets.map(async (wallet) => {
      const [balances, spent] = await Promise.all([balancesOf(networks, wallet), database.wallets.spent(wallet.id)]);
      const form = limitForm(networks, place, session, wallet);
      return html`<section class="panel" aria-label="${wallet.name}">
        <h2>${wallet.name} <span class="tag">${wallet.mode}</span></h2>
        <p><code>${wallet.address}</code><br /><span class="soft">${wallet.id}</span></p>
        ${balanceTable(balances)} ${limitTable(networks, wallet, spent)} ${form}
      </section>`;
    }),
  );
  return html`${problem === undefined ? "" : html`<p class="bad" role="alert">${problem}</p>`}
    ${shown.length > 0 ? shown : html`<p>There is no hosted wallet yet. The gateway sends payments from one, up to the limits that you set.</p>`}
    <h2>Make one, or import one</h2>
    <p class="soft">This is done on the command line: a private key is nothing for a browser.</p>
    <pre>tollgate wallets create --account ${account} --name NAME --family evm --limit "NETWORK ASSET AMOUNT/payment AMOUNT/day"
tollgate wallets import --help</pre>`;
}

const balanceTable = (balances: readonly Balance[]): Html => html`<table class="cards">
  <thead><tr><th scope="col">Network</th><th scope="col">Holds</th></tr></thead>
  <tbody>${balances.map(({ network, text }) => html`<tr><td data-label="Network">${network}</td><td data-label="Holds">${text}</td></tr>`)}</tbody></table>`;

function limitTable(networks: Parts["networks"], { limits }: HostedWallet, spent: readonly Spent[]): Html {
  if (limits.length === 0) return html`<p>It has no limit, and so it sends nothing.</p>`;
  return html`<table class="cards">
    <thead><tr><th scope="col">May send on</th><th scope="col">At once</th><th scope="col">In 24 hours</th><th scope="col">Sent in 24 hours</th></tr></thead>
    <tbody>${limits.map(({ network, asset, perPayment, perDay }) => {
      const text = (amount: bigint) => amountText(networks, { network, asset, amount });
      const sent = spent.find((one) => one.network === network && one.asset === asset)?.amount ?? 0n;
      return html`<tr><td data-label="May send on">${networkText(network)}</td>
        <td data-label="At once">${text(perPayment)}</td>
        <td data-label="In 24 hours">${text(perDay)}</td>
        <td data-label="Sent"><span>${text(sent)}</span>
          <progress max="1000" value="${shareOf(sent, perDay)}" aria-label="Sent, of ${text(perDay)}"></progress></td></tr>`;
    })}</tbody></table>`;
}

function limitForm(networks: Parts["networks"], place: Place, session: Session, wallet: HostedWallet): Html {
  const choices = servedFor(networks, wallet).flatMap(({ network, assets }) =>
    assets.map(
      ({ address, symbol }) =>
        html`<option value="${network.id} ${address}">${symbol} on ${networkText(network.id)}</option>`,
    ),
  );
  const amount = (name: string, label: string) =>
    html`<label>${label}<input name="${name}" required inputmode="decimal" pattern="[0-9]+([.][0-9]+)?" maxlength="80" autocomplete="off" /></label>`;
  const fields = html`<input type="hidden" name="wallet" value="${wallet.id}" /><div class="fields">
    <label>What<select name="asset">${choices}</select></label>
    ${amount("perPayment", "At once, at most")} ${amount("perDay", "In 24 hours, at most")}
    <button>Set the limit</button></div>`;
  return html`<details><summary>Change a limit of ${wallet.name}</summary>
    <p class="soft">A lower one holds at once. For a higher one a wallet of this account has to sign.</p>
    ${actionForm(place, session, "/wallets/limit", fields)}</details>`;
}

interface Balance {
  readonly network: string;
  readonly text: string;
}

const servedFor = (networks: Parts["networks"], { family, mode }: HostedWallet) =>
  networks.all.filter(({ network }) => network.family === family && network.testnet === (mode === "test"));

function balancesOf(networks: Parts["networks"], wallet: HostedWallet): Promise<readonly Balance[]> {
  const signal = AbortSignal.timeout(BALANCE_MS);
  return Promise.all(
    servedFor(networks, wallet).flatMap(({ network, assets, transfers }) =>
      assets.map(async (asset): Promise<Balance> => {
        const held = await transfers.balance(wallet.address, asset, signal);
        const text = held.ok
          ? amountText(networks, { network: network.id, asset: asset.address, amount: held.value })
          : `${asset.symbol}: the node does not answer`;
        return { network: networkText(network.id), text };
      }),
    ),
  );
}
