// Sellers on Solana, on several chain families at once, and in a chain's own currency: what is complete, and in which words
// what is not is refused.
import { describe, expect, it } from "vitest";
import { encodeBase58 } from "../src/chains/solana/base58.js";
import { resolveOptions } from "../src/options.js";
import type { ProofTrace } from "../src/store/record.js";
import {
  both,
  FEE_PAYER,
  good,
  KEY,
  RPC_URL,
  receive,
  receiveBoth,
  refused,
  SELLER,
  SOLANA,
  SOLANA_KEY,
  SOLANA_SEED,
} from "./support/configurations.js";

const [BASE_SEPOLIA, DEVNET] = ["eip155:84532", "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"];
const networks = ["base-sepolia", "solana-devnet"];
const complete = {
  TOLLGATE_RPC_URL_BASE_SEPOLIA: RPC_URL,
  TOLLGATE_RPC_URL_SOLANA_DEVNET: RPC_URL,
  TOLLGATE_SETTLER_KEY_EVM: KEY,
  TOLLGATE_SETTLER_KEY_SOLANA: SOLANA_KEY,
};

describe("a seller on several families", () => {
  it("has an address for each, by family, by network or by the form of what the environment holds", () => {
    const payTo = { [BASE_SEPOLIA]: SELLER, [DEVNET]: SOLANA };
    expect(resolveOptions(both, {}).terms.payTo).toEqual(payTo);
    const named = { "base-sepolia": SELLER.toLowerCase(), "solana-devnet": SOLANA };
    expect(resolveOptions({ ...both, payTo: named }, {}).terms.payTo).toEqual(payTo);
    const env = { TOLLGATE_PAY_TO: `${SOLANA},${SELLER}`, TOLLGATE_NETWORKS: networks.join(",") };
    expect(resolveOptions({ receive: receiveBoth }, env).terms.payTo).toEqual(payTo);
  });

  it("may be paid at an address off the curve, such as a vault", () => {
    const vault = "6ndWAgFxMAVLobD8WrdBj5w41GrDeJYiQX91nNSrwkZp";
    const payTo = { evm: SELLER, solana: vault };
    expect(resolveOptions({ ...both, payTo }, {}).terms.payTo[DEVNET]).toBe(vault);
  });

  it("may ask for any mix of assets, once for the whole table and once by the line", () => {
    const routes = {
      "GET /a": "$0.01",
      "GET /b": ["$0.01", "0.00005 SOL", "0.000003 ETH"],
      "GET /c": { price: "0.001 SOL", network: "solana-devnet", confirmations: 32 },
      "GET /d": { amount: "5", asset: "native", network: "base-sepolia", confirmations: 3 },
    };
    const settings = resolveOptions({ ...both, confirmations: 2, routes }, {});
    expect(settings.routes?.map(({ terms }) => terms.confirmations)).toEqual([2, 2, 32, 2]);
    expect(settings.receiver).toBe(receiveBoth);
  });

  it("is told which address is missing, and how to write both", () => {
    const [problem] = refused({ ...both, payTo: SELLER });
    expect(problem?.message).toContain("an address of evm, and there is none for solana-devnet");
    expect(problem?.message).toContain("{ evm: …, solana: … }");
  });
});

describe("the environment of a local set-up", () => {
  it("may hold the keys of both families, and makes one receiver of them", () => {
    for (const key of [SOLANA_KEY, SOLANA_SEED, `0x${SOLANA_SEED}`]) {
      const env = { ...complete, TOLLGATE_SETTLER_KEY_SOLANA: key };
      const { receiver, notices } = resolveOptions({ payTo: both.payTo, networks }, env);
      expect(receiver).toMatchObject({ name: "local", networks: [BASE_SEPOLIA, DEVNET] });
      expect(receiver.feePayer?.(DEVNET)).toBe(FEE_PAYER);
      expect(notices).toEqual([]);
    }
  });

  it("needs no key of a family that no route asks for, whatever URLs stand beside it", () => {
    const { TOLLGATE_SETTLER_KEY_EVM, ...rest } = complete;
    const solana = resolveOptions({ payTo: SOLANA, network: "solana-devnet" }, rest);
    expect(solana.receiver.networks).toEqual([DEVNET]);
    const { TOLLGATE_SETTLER_KEY_SOLANA, ...others } = complete;
    expect(resolveOptions(good, others).receiver.networks).toEqual([BASE_SEPOLIA]);
  });

  it("is told everything that is missing by its name", () => {
    const { TOLLGATE_SETTLER_KEY_EVM } = complete;
    const problems = refused({ payTo: both.payTo, networks }, { TOLLGATE_SETTLER_KEY_EVM });
    expect(problems.map(({ path, code }) => `${path} ${code}`)).toEqual([
      "TOLLGATE_RPC_URL_BASE_SEPOLIA required",
      "TOLLGATE_RPC_URL_SOLANA_DEVNET required",
      "TOLLGATE_SETTLER_KEY_SOLANA required",
    ]);
    expect(problems[2]?.message).toContain("solana-devnet");
  });

  it("lets a facilitator look settlements up on Solana too, and only where it has a URL", async () => {
    const env = {
      TOLLGATE_FACILITATOR_URL: "https://f.example",
      TOLLGATE_RPC_URL_SOLANA_DEVNET: "http://127.0.0.1:1",
      TOLLGATE_PAY_TO: SOLANA,
    };
    const { receiver } = resolveOptions({ network: "solana-devnet" }, env);
    expect(receiver.name).toBe("facilitator");
    const signature = encodeBase58(new Uint8Array(64).fill(3));
    const trace: ProofTrace = {
      ...{ proofId: "p", network: DEVNET, asset: SOLANA, payer: SOLANA, payTo: FEE_PAYER, amount: "1" },
      ...{
        method: "spl",
        nonce: "00".repeat(32),
        validBefore: 1,
        transaction: signature,
        expiry: null,
        received: null,
      },
    };
    const lookup = (network: string) => receiver.lookup({ ...trace, network }, AbortSignal.timeout(5_000));
    const without = { outcome: "unknown", message: expect.stringContaining("no rpcUrl is configured") };
    expect(await lookup("solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z")).toEqual(without);
    const asked = await lookup(DEVNET);
    expect(asked.outcome).toBe("unknown");
    expect(asked).not.toEqual(without);
    await receiver.close();
  });

  it("counts a list of networks without a name as none", () => {
    expect(refused({ payTo: SELLER }, { TOLLGATE_NETWORKS: " , " }).map(({ path }) => path)).toEqual(["networks"]);
  });
});

describe("the words of a refusal", () => {
  it("name who cannot receive a chain's own currency, and what can be done", () => {
    const [problem] = refused(good, {}, { from: "argument", price: "0.0002 ETH" });
    expect(problem).toMatchObject({ path: "price", code: "contradiction" });
    for (const part of ["facilitator()", "ETH on base-sepolia", "local()", "stablecoin"])
      expect(problem?.message).toContain(part);
  });

  it("come once for each asset that cannot be received, under the price that names it", () => {
    const price = ["$0.01", "0.0002 ETH", { amount: "1", asset: SELLER, transferMethod: "transaction" }];
    const problems = refused({ ...good, receive }, {}, { from: "argument", price });
    expect(problems.map(({ path, code }) => `${path} ${code}`)).toEqual(["price contradiction", "price contradiction"]);
  });

  it("leave price functions to the request", () => {
    expect(refused({ ...good, receive }, {}, { from: "argument", price: () => "0.0002 ETH" })).toEqual([]);
    expect(refused({ ...good, receive, routes: { "/a": () => "0.0002 ETH" } })).toEqual([]);
  });

  it("count the seconds that Solana needs, and those that its transactions live", () => {
    const slow = { ...both, handlerTimeoutMs: 45_000 };
    const [within] = refused({ ...slow, maxTimeoutSeconds: 60 });
    for (const part of ["20000 ms to settle on solana-devnet", "65 or more", "40000 or less", "upfront"])
      expect(within?.message).toContain(part);
    const [beyond] = refused({ ...slow, maxTimeoutSeconds: 300 });
    for (const part of ["60000 ms that a transaction of Solana lives", "40000 or less", "upfront"])
      expect(beyond?.message).toContain(part);
    expect(refused({ ...slow, flow: "upfront" })).toEqual([]);
    expect(refused({ ...good, handlerTimeoutMs: 45_000 })).toEqual([]);
    expect(refused({ ...both, handlerTimeoutMs: 40_000 })).toEqual([]);
  });
});
