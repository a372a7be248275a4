// One payment: every fact that its record shows to the account, its history, and where the chain shows it.
import { html } from "hono/html";
import { findNetwork } from "../../../networks.js";
import type { PaymentSeen } from "../../database/browsing.js";
import type { GatewayNetworks } from "../../parts.js";
import { explorerUrl } from "../explorers.js";
import type { Html } from "../layout.js";
import { amountText, instant, networkText } from "../show.js";

export function renderPayment(networks: GatewayNetworks, payment: PaymentSeen): Html {
  const { id, type, status, network, sender, recipient, resource, metadata, fee, error } = payment;
  const row = (name: string, value: Html | string | null) =>
    value === null ? "" : html`<dt>${name}</dt><dd>${value}</dd>`;
  return html`<dl>
      ${row("Id", html`<code>${id}</code>`)}
      ${row("Status", `${type}, ${status}${payment.late ? ", late" : ""}`)}
      ${row("Amount", amountText(networks, payment))}
      ${row("Network", networkText(network))}
      ${row("From", sender)}
      ${row("To", recipient)}
      ${row("Transaction", transactionOf(payment))}
      ${row("Network fee", fee === null ? null : amountText(networks, { network, asset: "native", amount: fee }))}
      ${row("Resource", resource)}
      ${row("Error", error && `${error.code}: ${error.message}`)}
      ${row("Made", instant(payment.createdAt))}
    </dl>
    ${metadata === null ? "" : html`<h2>Metadata</h2><pre>${JSON.stringify(metadata, null, 2)}</pre>`}
    <h2>History</h2>
    <ol>${payment.history.map((step) => html`<li>${step.status}, ${instant(step.at)}</li>`)}</ol>`;
}

function transactionOf({ network, signature }: PaymentSeen): Html | null {
  if (signature === null) return null;
  const known = findNetwork(network);
  const url = known && explorerUrl(known, signature);
  return url === undefined
    ? html`<code>${signature}</code>`
    : html`<code>${signature}</code> <a href="${url}" rel="noreferrer noopener" target="_blank">in the explorer</a>`;
}
