// `tollgate/client` as a bundler takes it for browsers: no module of Node, a bounded weight, and wallets that pay on both chains
// where there are only the globals of the web.
import { readFileSync } from "node:fs";
import { createContext, runInContext } from "node:vm";
import { Keypair } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { payingFetch } from "../../src/client/paying-fetch.js";
import type { Price } from "../../src/price.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { toBase58 } from "../../src/testing/solana/encoding.js";
import { type BundleOptions, bundle } from "../support/bundle.js";
import { ETHER, newKey, sell } from "./wallet-world.js";

/** Bytes after gzip, without viem: ten per cent above what was measured, 86.5 KB at once and 39.6 KB later. */
const LARGEST = { eager: 95_000, later: 43_500 };

const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} KB`;

async function bundled(source: Parameters<typeof bundle>[0], options: BundleOptions = {}) {
  const made = await bundle(source, { conditions: ["browser"], ...options });
  onTestFinished(made.remove);
  return made;
}

it("bundles for browsers without a module of Node; what is left out is viem, by name", async () => {
  const { externals, gzip, bytes } = await bundled({ file: "src/client/index.ts" }, { external: ["viem"] });
  expect([...new Set(externals)].toSorted()).toEqual(["viem/accounts", "viem/utils"]);
  const parts = [...bytes].map(([origin, size]) => `${origin} ${kilobytes(size)}`).join(", ");
  console.log(`client bundle, gzip: ${kilobytes(gzip.eager)} at once, ${kilobytes(gzip.later)} later; ${parts}`);
  expect(gzip.eager).toBeLessThan(LARGEST.eager);
  // Local transactions of a gateway, and its events, are loaded by whoever first asks for one.
  expect(gzip.later).toBeLessThan(LARGEST.later);
});

it("is whole where viem is installed: nothing is left to be found at run time", async () => {
  expect((await bundled({ file: "src/client/index.ts" })).externals).toEqual([]);
});

/** What a page would bundle. */
const PAGE = `
  export { evmWallet } from "./src/client/evm-wallet.js";
  export { payingFetch } from "./src/client/paying-fetch.js";
  export { solanaWallet } from "./src/client/solana-wallet.js";
  export { privateKeyToAccount } from "viem/accounts";
`;
const WEB = [
  ...["AbortController", "AbortSignal", "Blob", "DOMException", "Event", "EventTarget", "FormData", "Headers"],
  ...["ReadableStream", "Request", "Response", "TextDecoder", "TextEncoder", "TransformStream", "URL"],
  ...["URLSearchParams", "atob", "btoa", "clearTimeout", "crypto", "fetch", "queueMicrotask", "setTimeout"],
  // Bytes pass between the context and these globals: both sides must mean the same class.
  ...["ArrayBuffer", "Uint8Array"],
];

describe("with the web's globals alone", () => {
  let evm: Sandbox;
  let solana: SolanaSandbox;
  beforeAll(async () => {
    [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  });
  afterAll(async () => {
    await evm.close();
    await solana.close();
  });

  it("both wallets pay: tokens and native currency, on both chains", async () => {
    const { entry } = await bundled({ text: PAGE }, { script: true });
    const web = Object.fromEntries(WEB.map((name) => [name, Reflect.get(globalThis, name)]));
    const context = createContext(web, { codeGeneration: { strings: false, wasm: false } });
    runInContext("globalThis.self = globalThis", context);
    runInContext(readFileSync(entry, "utf8"), context);
    expect(runInContext("[typeof process, typeof Buffer, typeof require]", context)).toEqual(
      Array(3).fill("undefined"),
    );

    const { key, address } = newKey();
    const pair = await solana.newBuyer();
    await evm.native.setBalances([address], ETHER);
    await evm.token.setBalances([address], 10n ** 9n);
    Object.assign(context, {
      key,
      secret: toBase58(pair.secretKey),
      rpcUrls: { "base-sepolia": evm.rpcUrl, "solana-devnet": solana.rpcUrl },
    });
    const pay = runInContext(
      `{ const { evmWallet, solanaWallet, payingFetch, privateKeyToAccount } = bundled;
      const caps = ["$0.10", "0.001 ETH", "0.01 SOL"];
      payingFetch({
        wallets: [evmWallet(privateKeyToAccount(key), { rpcUrls }), solanaWallet(secret, { rpcUrls })],
        budget: { perRequest: caps, perDay: caps },
      }); }`,
      context,
    ) as ReturnType<typeof payingFetch>;
    const shops: readonly [Price, Sandbox | SolanaSandbox][] = [
      ["$0.01", evm],
      ["0.0002 ETH", evm],
      ["$0.01", solana],
      ["0.001 SOL", solana],
    ];
    for (const [price, { payTo, network, ...sandbox }] of shops) {
      const seller = await sell(price, { payTo, network, receive: sandbox.receive() });
      const answer = await pay(`${seller.url}/report`);
      expect([answer.status, await answer.text()]).toEqual([200, "the goods"]);
      await seller.close();
    }
    expect(await evm.token.balanceOf(address)).toBe(10n ** 9n - 10_000n);
    expect(await evm.native.transfers({ from: address })).toHaveLength(1);
    const paid = await solana.balances(pair.publicKey.toBase58());
    expect(paid.usdc).toBe(10n ** 9n - 10_000n);
    expect(paid.lamports).toBeLessThan(10n ** 10n - 1_000_000n);
  });

  it("a seed in hex is no key, because its address cannot be told at once, and the problem says what to write", async () => {
    const { entry } = await bundled({ text: PAGE }, { script: true });
    const context = createContext({ ...Object.fromEntries(WEB.map((name) => [name, Reflect.get(globalThis, name)])) });
    runInContext(readFileSync(entry, "utf8"), context);
    const seed = Buffer.from(Keypair.generate().secretKey.subarray(0, 32)).toString("hex");
    Object.assign(context, { seed });
    expect(() => runInContext("bundled.solanaWallet(seed)", context)).toThrow(/write the secret key in base58/);
  });
});
