// `local()` on Solana: what an entry may say, what it is told where it is wrong, and what the receiver knows before it is asked.
import { describe, expect, it } from "vitest";
import { local } from "../../src/receive/local.js";
import { type SolanaOptions, solana } from "../../src/solana.js";
import {
  FEE_PAYER,
  KEY,
  problemsOf,
  RPC_URL,
  SELLER,
  SOLANA,
  SOLANA_KEY,
  SOLANA_SEED,
} from "../support/configurations.js";

const DEVNET = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
const entry = { rpcUrl: RPC_URL, settler: SOLANA_KEY };
/** A key service: it tells its address and signs. */
const account = { address: SOLANA, signMessage: async () => new Uint8Array(64) };
const signal = new AbortController().signal;

/** The problems of one entry, as a JavaScript caller could write it. */
const problemsWith = (more: object, name = "solana-devnet") =>
  problemsOf(() => local({ networks: { [name]: { ...entry, ...more } } }));

describe("local() on Solana", () => {
  it("takes every form of a key, a list of them, an account, and entries of solana()", () => {
    for (const settler of [SOLANA_KEY, SOLANA_SEED, `0x${SOLANA_SEED}`]) {
      const receiver = local({ networks: { "solana-devnet": { rpcUrl: RPC_URL, settler } } });
      expect(receiver.feePayer?.(DEVNET)).toBe(FEE_PAYER);
    }
    const settler = [account, SOLANA_KEY];
    const options: SolanaOptions = {
      ...{ id: "solana-devnet", rpcUrl: [RPC_URL], settler, maxComputeUnits: 100_000, maxUnitPrice: 0n },
      maxTotalFeeLamports: 10_000n,
      tokens: [{ address: SOLANA, allow: ["transfer-fee"] }],
    };
    const receiver = local({ networks: { mine: solana(options) } });
    expect(receiver.networks).toEqual([DEVNET]);
    expect(receiver.feePayer?.(DEVNET)).toBe(SOLANA);
  });

  it("stands beside EVM in one receiver, with the times of each and every way to pay", () => {
    const receiver = local({ networks: { "base-sepolia": { rpcUrl: RPC_URL, settler: KEY }, "solana-devnet": entry } });
    expect(receiver.networks).toEqual(["eip155:84532", DEVNET]);
    expect(receiver.methods).toEqual(["eip3009", "spl", "transaction"]);
    expect(receiver.settleMs("eip155:84532")).toBe(10_000);
    expect(receiver.settleMs(DEVNET)).toBe(20_000);
    expect(receiver.feePayer?.("eip155:84532")).toBeUndefined();
  });

  it("keeps its fee payer, whatever becomes of the account that named it", () => {
    const changing = { ...account };
    const receiver = local({ networks: { "solana-devnet": { rpcUrl: RPC_URL, settler: changing } } });
    changing.address = FEE_PAYER;
    expect(receiver.feePayer?.(DEVNET)).toBe(SOLANA);
  });

  it("reads a transaction on the chain of its network, and on no other", async () => {
    const receiver = local({ networks: { "solana-devnet": entry } });
    const payload = { transaction: btoa("no transaction") };
    expect(await receiver.identify?.(payload, DEVNET, signal)).toMatchObject({ ok: false, code: "payment_malformed" });
    const elsewhere = await receiver.identify?.(payload, "eip155:8453", signal);
    expect(elsewhere).toEqual({ ok: false, code: "misconfigured" });
    await receiver.close();
  });
});

it("settles within the time that its network is given, by default within the table's", async () => {
  const timed = local({ networks: { "solana-devnet": { ...entry, settleMs: 45_000 } } });
  expect(timed.settleMs(DEVNET)).toBe(45_000);
  expect(local({ networks: { "solana-devnet": entry } }).settleMs(DEVNET)).toBe(20_000);
});

describe("a wrong entry", () => {
  it.each([
    ["no settler", { settler: undefined }, "settler", "required"],
    ["an empty list of settlers", { settler: [] }, "settler", "invalid"],
    ["a WebSocket", { rpcUrl: "wss://rpc.example" }, "rpcUrl", "invalid"],
    ["no compute units", { maxComputeUnits: 0 }, "maxComputeUnits", "invalid"],
    ["more compute units than the chain grants", { maxComputeUnits: 1_400_001 }, "maxComputeUnits", "invalid"],
    ["a unit price below 0", { maxUnitPrice: -1n }, "maxUnitPrice", "invalid"],
    ["a unit price that is a number", { maxUnitPrice: 5 }, "maxUnitPrice", "invalid"],
    ["less than two signatures cost", { maxTotalFeeLamports: 9_999n }, "maxTotalFeeLamports", "invalid"],
    ["an option of EVM", { maxFeePerGas: 5n }, "maxFeePerGas", "unknown_option"],
    ["a token that is no mint", { tokens: [{ address: SELLER }] }, "tokens[0].address", "invalid"],
    ["an extension that is none", { tokens: [{ address: SOLANA, allow: ["all"] }] }, "tokens[0].allow[0]", "invalid"],
    [
      "an unknown member of a token",
      { tokens: [{ address: SOLANA, decimals: 6 }] },
      "tokens[0].decimals",
      "unknown_option",
    ],
    ["an id that is no text", { id: 5 }, "id", "invalid"],
    ["no time to settle", { settleMs: 10 }, "settleMs", "invalid"],
  ])("with %s has one problem, in its place", (_name, more, place, code) => {
    const problems = problemsWith(more);
    expect(problems.map(({ path, code: own }) => [path, own])).toEqual([
      [`local.networks["solana-devnet"].${place}`, code],
    ]);
    expect(problems[0]?.message).toMatch(/^expected|^no such option/);
  });

  it("is told the members of its own family", () => {
    expect(problemsWith({ maxFeePerGas: 5n })[0]?.message).toContain("maxUnitPrice");
    expect(problemsWith({ tokens: [{ address: SOLANA, decimals: 6 }] })[0]?.message).toBe(
      "no such option: it has address, allow",
    );
    const evm = problemsOf(() => local({ networks: { base: { ...entry, settler: KEY, maxUnitPrice: 5n } } }));
    expect(evm[0]?.message).toContain("maxFeePerGas");
  });

  it("does not hide what is wrong with another", () => {
    const networks = { "solana-devnet": { rpcUrl: RPC_URL }, base: { rpcUrl: RPC_URL }, nowhere: entry, solana: 5 };
    expect(problemsOf(() => local({ networks: networks as never })).map(({ path }) => path)).toEqual([
      'local.networks["solana-devnet"].settler',
      "local.networks.base.settler",
      "local.networks.nowhere",
      "local.networks.solana",
    ]);
  });
});
