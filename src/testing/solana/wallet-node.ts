// What a wallet asks of a Solana node, and how it sends. It opens no WebSocket and keeps nothing.
import * as z from "zod/mini";
import { callNode, until } from "../json-rpc.js";

const blockhashSchema = z.object({ value: z.object({ blockhash: z.string() }) });
const mintSchema = z.object({
  value: z.nullable(
    z.object({ owner: z.string(), data: z.object({ parsed: z.object({ info: z.object({ decimals: z.number() }) }) }) }),
  ),
});
const statusesSchema = z.object({
  value: z.array(z.nullable(z.object({ confirmationStatus: z.nullable(z.string()) }))),
});

/** Of the newest confirmed block. */
export async function latestBlockhash(rpcUrl: string): Promise<string> {
  const answer = await callNode(rpcUrl, "getLatestBlockhash", [{ commitment: "confirmed" }]);
  return blockhashSchema.parse(answer).value.blockhash;
}

/** Rejects where there is no mint at the address. */
export async function readMint(rpcUrl: string, mint: string): Promise<{ decimals: number; tokenProgram: string }> {
  const answer = await callNode(rpcUrl, "getAccountInfo", [mint, { encoding: "jsonParsed", commitment: "confirmed" }]);
  const { value } = mintSchema.parse(answer);
  if (value === null) throw new Error(`The node knows no mint ${mint}`);
  return { decimals: value.data.parsed.info.decimals, tokenProgram: value.owner };
}

/** Sends as a wallet does, after the node's own preflight. */
export async function sendBytes(rpcUrl: string, bytes: Uint8Array): Promise<void> {
  const text = Buffer.from(bytes).toString("base64");
  const config = { encoding: "base64", preflightCommitment: "confirmed" };
  await callNode(rpcUrl, "sendTransaction", [text, config]);
}

/** Resolves when a confirmed block holds it, whether or not it succeeded there. */
export async function confirmed(rpcUrl: string, id: string): Promise<void> {
  await until(`A confirmed block with the transaction ${id}`, async () => {
    const { value } = statusesSchema.parse(await callNode(rpcUrl, "getSignatureStatuses", [[id]]));
    const status = value[0]?.confirmationStatus;
    return status === "confirmed" || status === "finalized" ? status : undefined;
  });
}
