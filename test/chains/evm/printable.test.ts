import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { printable, withoutBytes } from "../../../src/chains/evm/printable.js";
import { createRpc } from "../../../src/chains/evm/rpc.js";
import { fault, startScriptedRpc } from "../../support/scripted-rpc.js";

const bytes = randomBytes(110);
const forms = {
  hex: `0x${bytes.toString("hex")}`,
  "hex without a prefix": bytes.toString("hex").toUpperCase(),
  base64: bytes.toString("base64"),
  base64url: bytes.toString("base64url"),
  "a secret of 32 bytes": `0x${bytes.subarray(0, 32).toString("hex")}`,
};
const parts = (text: string) => [text, text.slice(0, 32), text.slice(-32), text.slice(20, 52)];

describe("the text of a node", () => {
  it.each(Object.entries(forms))("loses the bytes that it repeats, wherever they stand: %s", (_, form) => {
    for (const text of [form, `bad tx ["${form}"]`, `${"x ".repeat(70)}${form}`, `${form}, and again: ${form}`]) {
      for (const shown of [withoutBytes(text), printable(text)]) {
        for (const part of parts(form)) expect(shown).not.toContain(part);
      }
    }
  });

  it("keeps its words, addresses and short numbers, in printable ASCII and not more than 160 of it", () => {
    const text = "nonce too low: address 0x70997970C51812dc3A010C7d01b50e0d17dc79C8, tx: 0 state: 1";
    expect(printable(text)).toBe(text);
    expect(printable("a\u0000b\u00e9\n")).toBe("a?b??");
    expect(printable("word ".repeat(100))).toHaveLength(160);
  });

  it("reaches nobody with a transaction in it: the RPC strips it before anyone reads it", async () => {
    const node = await startScriptedRpc("http://127.0.0.1:9");
    const rpc = createRpc({ urls: [node.url], chainId: 1 });
    node.script("eth_sendRawTransaction", fault.error(-32000, `already known: ${forms.hex}`));
    const call = { method: "eth_sendRawTransaction", params: [forms.hex] };
    const reply = await rpc.batch([call], { checkChain: false });
    expect(reply).toMatchObject({ ok: true, answers: [{ ok: false, message: "already known: (bytes)" }] });
    rpc.close();
    await node.close();
  });
});
