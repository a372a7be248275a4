// An EIP-3009 authorization: its fields against what was accepted, its time against the clock, and who really signed it under
// which token's domain. What only the chain can tell (balance, nonce, a contract wallet's own word) is said to be so.
import { checksumAddress } from "../../address.js";
import { addressOf, loadBackend } from "../../chains/evm/backend.js";
import { toBytes } from "../../chains/evm/hex.js";
import { HALF_ORDER, readSignature, type SignatureForm } from "../../chains/evm/signature.js";
import { authorizationDigest, type TokenDomain } from "../../chains/evm/typed-data.js";
import { isAddressOf } from "../../networks.js";
import type { Authorization } from "../../proof.js";
import type { ExactEvmPayload } from "../../wire/payload.js";
import { came, type Findings } from "./findings.js";
import type { Terms } from "./offer.js";
import type { Paid } from "./payment.js";
import { type Candidate, candidatesOf, elsewhere } from "./signed-domain.js";
import { formatAmount, formatSpan, formatTime } from "./words.js";

const AT = "payload.authorization";
/** Whoever holds a proof can take the money until it expires: no seller needs longer. */
const LONGEST = 86_400n;

/** Examines a payload of the right form. */
export async function examineAuthorization(
  { authorization: given, signature }: ExactEvmPayload,
  terms: Terms,
  now: number,
  out: Findings,
): Promise<Paid> {
  for (const name of ["from", "to"] as const) {
    if (!isAddressOf("evm", given[name]))
      out.flaw(`${AT}.${name}`, "an address whose mixed case is its checksum (EIP-55)", came(given[name]));
  }
  const authorization: Authorization = {
    from: lower(given.from),
    to: lower(given.to),
    value: BigInt(given.value),
    validAfter: BigInt(given.validAfter),
    validBefore: BigInt(given.validBefore),
    nonce: lower(given.nonce),
  };
  comparePrice(authorization, terms, out);
  examineTime(authorization, now, out);
  const signed = await examineSignature(authorization, readSignature(lower(signature)), terms, out);
  const { network } = terms;
  // Version 1 names no asset: the domain that was signed tells it.
  const token = terms.token ?? (terms.asset === undefined ? signed?.token : undefined);
  const address = terms.asset ?? token?.address;
  return {
    ...(network && { price: formatAmount(authorization.value, { network, address, token }) }),
    payer: checksumAddress(authorization.from),
    payTo: checksumAddress(authorization.to),
  };
}

const lower = (text: string) => text.toLowerCase() as `0x${string}`;

function comparePrice({ to, value, from }: Authorization, { amount, payTo }: Terms, out: Findings): void {
  if (amount !== undefined && value !== amount)
    out.flaw(`${AT}.value`, `${amount}, the accepted amount`, came(`${value}`));
  if (payTo !== undefined && to !== payTo.toLowerCase())
    out.flaw(`${AT}.to`, `${payTo}, the accepted payTo`, came(checksumAddress(to)));
  if (value === 0n) out.flaw(`${AT}.value`, "more than 0", came("0"));
  if (to === from) out.note("Payer and payee are the same address");
}

function examineTime({ validAfter, validBefore }: Authorization, nowMs: number, out: Findings): void {
  const now = BigInt(Math.floor(nowMs / 1000));
  if (validAfter > 0n) out.fact("validFrom", formatTime(validAfter, nowMs));
  out.fact("validUntil", formatTime(validBefore, nowMs));
  if (validBefore <= validAfter)
    out.flaw(`${AT}.validBefore`, "a time after validAfter", `${formatTime(validBefore, nowMs)}`);
  else if (validBefore <= now)
    out.flaw(`${AT}.validBefore`, "a time that is still to come", `${formatTime(validBefore, nowMs)}: it has expired`);
  else if (validBefore - now > LONGEST) {
    const left = formatSpan(validBefore - now);
    out.flaw(`${AT}.validBefore`, "an end within a day", `${left}: so long can whoever holds it take the money`);
  }
  if (validAfter > now) out.flaw(`${AT}.validAfter`, "a time that has come", formatTime(validAfter, nowMs));
}

/** Finds out under which token's domain `from` signed it. */
async function examineSignature(
  authorization: Authorization,
  form: SignatureForm,
  terms: Terms,
  out: Findings,
): Promise<Candidate | undefined> {
  const place = "payload.signature";
  if (form.form === "wrapped") out.fact("signature", `of a wallet that is not deployed yet (factory ${form.factory})`);
  if (form.form === "other")
    out.fact("signature", "not of a plain account: only the payer's own contract can judge it");
  if (form.form !== "ecdsa") return undefined;
  if (form.v !== 27 && form.v !== 28) out.flaw(place, "a v of 27 or 28 at the end", `a v of ${form.v}`);
  if (BigInt(form.s) > HALF_ORDER)
    out.flaw(place, "the lower of the two s that fit (EIP-2)", "a high s, which tokens refuse");
  const signerOf = await createRecovery(authorization, form);
  if (!signerOf) {
    out.note("The signature is not checked, because no implementation is installed: npm install viem");
    return undefined;
  }
  const candidates = candidatesOf(terms);
  const signers = await Promise.all(candidates.map(({ domain }) => signerOf(domain)));
  const found = candidates[signers.indexOf(authorization.from)];
  if (found) {
    out.fact("signature", `by the payer's own key, for ${found.label}`);
    if (found.problem !== undefined) out.flaw(place, found.problem, `a signature for ${found.label}`);
    return found;
  }
  const foreign = await elsewhere(terms, async (domain) => (await signerOf(domain)) === authorization.from);
  const [signer] = signers;
  const by = signer === undefined ? "a signature of no key" : `a signature by ${checksumAddress(signer)}`;
  const got = foreign ? `its signature for ${foreign}` : by;
  const unless = foreign ? "" : " (unless the payer is a contract that accepts it)";
  const wanted = candidates[0] ? ` for ${candidates[0].label}` : "";
  if (candidates.length > 0 || foreign)
    out.flaw(place, `a signature by ${checksumAddress(authorization.from)}${wanted}${unless}`, got);
  else out.note("The signature is not checked: nothing says for which token it is");
  return undefined;
}

type Recovery = (domain: TokenDomain) => Promise<string | undefined>;

/** Who signed the authorization under a domain, lower case; undefined where no implementation is installed. */
async function createRecovery(
  authorization: Authorization,
  { r, s, v }: SignatureForm & { readonly form: "ecdsa" },
): Promise<Recovery | undefined> {
  // Safe because it rejects only where the optional package is missing, which is said.
  const backend = await loadBackend().catch(() => undefined);
  if (!backend) return undefined;
  const bytes = toBytes(r + s.slice(2));
  return async (domain) => {
    const key = await backend.recover(authorizationDigest(domain, authorization), bytes, v === 28 ? 1 : 0);
    return key && addressOf(key, backend.keccak);
  };
}
