// The scheme's own members of an offer, held against our table: the EIP-712 domain of a token, the fee payer of a cluster. Each
// of them makes every signature worthless where it is wrong. Source: protocol §3.1, §4.1.
import { isAddressOf } from "../../networks.js";
import { came, type Findings, textAt } from "./findings.js";
import type { Terms } from "./offer.js";
import { joined } from "./shape.js";

/** What `extra` must hold for the way in which the money moves. */
export function examineExtra(terms: Terms, place: string, out: Findings): void {
  const { network, asset, token, method } = terms;
  if (network === undefined) return;
  if (method === "eip3009") examineDomain(terms, place, out);
  if (method === "spl") examineCluster(terms, place, out);
  if (asset !== undefined && asset !== "native" && token === undefined)
    out.note("The token is not in the built-in table: what an amount of it is worth is not known here");
}

/** The token contract's own strings, letter by letter: a signature under others is refused by the chain. */
function examineDomain({ token, extra }: Terms, place: string, out: Findings): void {
  for (const name of ["name", "version"] as const) {
    const got = extra[name];
    const expected = token?.domain?.[name];
    const at = joined(place, [name]);
    if (typeof got !== "string" || got === "")
      out.flaw(at, `the token's EIP-712 ${name}${expected === undefined ? "" : `, "${expected}"`}`, came(got));
    else if (expected !== undefined && got !== expected)
      out.flaw(at, `"${expected}", as the contract of ${token?.symbol} says`, came(got));
  }
}

function examineCluster({ token, extra }: Terms, place: string, out: Findings): void {
  const feePayer = textAt(extra, "feePayer");
  if (feePayer === undefined || !isAddressOf("solana", feePayer))
    out.flaw(joined(place, ["feePayer"]), "the address that pays the network's fee", came(extra.feePayer));
  const { decimals } = extra;
  if (token && decimals !== undefined && decimals !== token.decimals)
    out.flaw(joined(place, ["decimals"]), `${token.decimals}, the decimals of ${token.symbol}`, came(decimals));
  const program = textAt(extra, "tokenProgram");
  if (token && program !== undefined && token.tokenProgram !== undefined && program !== token.tokenProgram)
    out.flaw(joined(place, ["tokenProgram"]), token.tokenProgram, came(program));
}
