// The recipient of a transfer, as far as its text tells: whether it can exist and receive is the chain's to say.
import { type Fault, fault, type Outcome } from "../errors.js";
import { readAddress, type Terms } from "../terms.js";

const FAMILY = {
  evm: "an EVM address (0x and 40 hex digits, with a correct checksum where the case is mixed)",
  solana: "a Solana address (base58 of 32 bytes)",
} as const;

/** What is wrong with the length of what would be an EVM address; nothing where that is right. */
function lengthProblem(family: "evm" | "solana", text: string): string | undefined {
  const [, digits] = /^0x([0-9a-fA-F]*)$/.exec(text) ?? [];
  if (family !== "evm" || digits === undefined || digits.length === 40) return undefined;
  return `expected an EVM address of 0x and 40 hex digits, got ${digits.length} of them`;
}

/** In its one spelling (checksummed on EVM). Fault: INVALID_RECIPIENT. */
export function readRecipient({ network, asset, address: sender }: Terms, text: string): Outcome<string> {
  const { family, name } = network.network;
  const address = readAddress(family, text);
  if (address === undefined) {
    const problem = lengthProblem(family, text) ?? `expected ${FAMILY[family]}`;
    return invalid(`${problem}, because the payment is made on ${name}`);
  }
  // Money that is sent there is lost: nobody has a key of either.
  if (/^(?:0x0{40}|1{32})$/.test(address)) return invalid("expected a recipient, got the address of nobody");
  if (address === sender) return invalid("expected another address than walletAddress");
  if (address === asset.address) return invalid("expected a recipient, got the token's own address");
  return { ok: true, value: address };
}

const invalid = (message: string): Fault =>
  fault("INVALID_RECIPIENT", `recipientAddress: ${message}`, { details: [{ path: "recipientAddress", message }] });
