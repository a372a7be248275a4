// What a node says, as it may stand in a log or an event: whoever reads that must not find the payment in it.
import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { encodeBase58 } from "../../../src/chains/solana/base58.js";
import { printable, printError } from "../../../src/chains/solana/print.js";
import { createWorld, settleContext } from "./world.js";

const [signature, bytes] = [randomBytes(64), randomBytes(300)];
const SECRET: Record<string, string> = {
  "a signature": encodeBase58(signature),
  "a signature in hex": signature.toString("hex"),
  "the bytes in base64": bytes.toString("base64"),
  "the bytes in base64url": bytes.toString("base64url"),
  "the bytes in base58": encodeBase58(bytes),
  "a secret in hex": `0x${randomBytes(32).toString("hex")}`,
};

it.each(Object.entries(SECRET))("a node that repeats %s is printed without it", (_, text) => {
  for (const said of [text, `bad transaction ["${text}", {}]`, `${"x ".repeat(70)}${text}`, `(${text})${text}`]) {
    for (const printed of [printable(said), printError({ InstructionError: [0, said] })]) {
      for (let at = 0; at + 20 <= text.length; at += 20) expect(printed).not.toContain(text.slice(at, at + 20));
    }
  }
});

it("words, numbers and addresses stay, in ASCII and short", () => {
  const address = encodeBase58(randomBytes(32));
  const said = `Transaction simulation failed: account ${address} has 12345678901234567890 lamports`;
  expect(printable(said)).toBe(said);
  expect(printable("caf\u00e9\n")).toBe("caf??");
  expect(printable("no ".repeat(100))).toHaveLength(200);
  expect(printError({ InstructionError: [2, { Custom: 4 }] })).toBe('{"InstructionError":[2,{"Custom":4}]}');
});

it("a settlement that a node has refused with the whole payment in its words is told without it", async () => {
  const world = await createWorld();
  world.rpc.script(
    "sendTransaction",
    async ({ call }) => ({ kind: "answer", answer: { error: { code: -32602, message: JSON.stringify(call.params) } } }),
    100,
  );
  const proof = await world.proof();
  const settlement = await world.chain.settle(proof, settleContext(3_000));
  expect(settlement).toMatchObject({ outcome: "unknown", message: expect.stringContaining("(bytes)") });
  // In front stand the fee payer's signature, which it did not have before, and then the payer's.
  const shared = proof.transaction.slice(88, 128);
  expect(JSON.stringify(settlement)).not.toContain(shared);
  await world.close();
});
