// Values that came together must agree: the offers of the header and of the body are one sale, and both payment headers carry
// one proof.
import { decodeProof } from "../../proof.js";
import type { Explained, Flaw } from "./findings.js";
import type { Piece } from "./input.js";

/** Flaws between the values, each to be told beside the later one. */
export function findDisagreements(pieces: readonly Piece[], explained: readonly Explained[]): readonly Flaw[] {
  return [...betweenPayments(pieces), ...betweenChallenges(explained)];
}

function betweenPayments(pieces: readonly Piece[]): Flaw[] {
  const textOf = (version: 1 | 2) =>
    pieces.find(({ carrier }) => carrier?.kind === "payment" && carrier.version === version)?.text;
  const [v1, v2] = [textOf(1), textOf(2)];
  if (v1 === undefined || v2 === undefined) return [];
  const decoded = decodeProof({ v1, v2, idempotencyKey: undefined });
  if (decoded.ok || decoded.code !== "payment_headers_conflict") return [];
  return [{ place: "X-PAYMENT", expected: "the proof of PAYMENT-SIGNATURE", got: "another proof" }];
}

const factOf = ({ facts }: Explained, name: string): string | undefined => facts.find((one) => one.name === name)?.text;

function betweenChallenges(explained: readonly Explained[]): Flaw[] {
  const [first, second] = explained.filter(({ kind }) => kind === "challenge");
  if (!first || !second) return [];
  const key = (offer: Explained) => [factOf(offer, "network"), factOf(offer, "asset")?.toLowerCase()].join("|");
  const known = new Map(first.offers.map((offer) => [key(offer), offer]));
  return second.offers.flatMap((offer) => {
    const twin = known.get(key(offer));
    if (!twin) return [];
    return ["price", "payTo"].flatMap((name) => {
      const [expected, got] = [factOf(twin, name), factOf(offer, name)];
      if (expected === undefined || got === undefined || expected.toLowerCase() === got.toLowerCase()) return [];
      return [
        { place: `${second.where}: ${offer.where}, ${name}`, expected: `${expected}, as ${first.where} says`, got },
      ];
    });
  });
}
