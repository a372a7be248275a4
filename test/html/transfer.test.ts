// What the page's script asks a wallet to send, with a wallet that only listens: by the sources themselves, not by the bundle.
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it, vi } from "vitest";

interface Call {
  readonly method: string;
  readonly params: readonly Readonly<Record<string, string>>[];
}
type Result = { readonly ok: boolean; readonly words?: string };
/** The script is written for a browser, whose types the tests do not have. */
interface Script {
  transferFrom(provider: object, asked: object, from: string): Promise<Result>;
}
const SCRIPT = fileURLToPath(new URL("../../src/html/script/transfer.ts", import.meta.url));

const PAYEE = `0x${"7".repeat(40)}`;
const BUYER = `0x${"5".repeat(40)}`;
const TOKEN = `0x${"3".repeat(40)}`;
const offer = (native: boolean) => ({
  given: { network: "eip155:84532", amount: "1000", asset: native ? `0x${"0".repeat(40)}` : TOKEN, payTo: PAYEE },
  method: "transaction",
  native,
  price: "0.001 X",
  network: "Base Sepolia",
  chainId: 84532,
});

const kept = new Map<string, string>();
const storage = {
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, value: string) => void kept.set(key, value),
  removeItem: (key: string) => void kept.delete(key),
};
const pending = () => [...kept.values()].map((text): Readonly<Record<string, unknown>> => JSON.parse(text));

let calls: Call[];
/** What was written down when the wallet was asked. */
let written: Readonly<Record<string, unknown>> | undefined;
/** @param hash what the wallet says it has sent */
const send = async (native: boolean, hash: unknown): Promise<Result> => {
  const provider = {
    async request(call: Call) {
      calls.push(call);
      if (call.method === "eth_sendTransaction") {
        written = pending()[0];
        return hash;
      }
      return call.method === "eth_blockNumber" ? "0x10" : { status: "0x1" };
    },
  };
  const { transferFrom } = (await import(SCRIPT)) as Script;
  const asked = { data: { extensions: {} }, offer: offer(native), id: "1234567890123456", step: () => {} };
  return transferFrom(provider, asked, BUYER);
};

describe("a transfer that the page asks for", () => {
  beforeEach(() => {
    calls = [];
    written = undefined;
    kept.clear();
    vi.stubGlobal("location", { pathname: "/report", search: "" });
    vi.stubGlobal("localStorage", storage);
    vi.stubGlobal("document", { getElementById: () => null });
  });

  it.each([true, false])(
    "names its network, its payee and its mark, and is written down first (native: %s)",
    async (native) => {
      const hash = `0x${"ab".repeat(32)}`;
      expect(await send(native, hash)).toMatchObject({ ok: true });
      const sent = calls.find(({ method }) => method === "eth_sendTransaction")?.params[0];
      const { reference } = Object(written?.transfer) as { readonly reference: string };
      expect(sent).toMatchObject({ from: BUYER, to: native ? PAYEE : TOKEN, chainId: "0x14a34" });
      expect(sent?.data?.endsWith(reference.slice(2))).toBe(true);
      expect(pending()[0]?.proof).toEqual(expect.any(String));
    },
  );

  it.each([null, "", "0x12", { hash: "0x1" }])(
    "whose id the wallet tells as %j stays written down, and is not shown as paid",
    async (hash) => {
      expect(await send(true, hash)).toMatchObject({ ok: false });
      expect(pending()).toEqual([expect.not.objectContaining({ proof: expect.anything() })]);
    },
  );
});
