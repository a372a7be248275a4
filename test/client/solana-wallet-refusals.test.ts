// What `solanaWallet()` does not sign, each refusal in words: too poor, a payee that could not exist or has no account, a node
// that fails, lies or is of another cluster, a signer that fails or is another one than it says.
import { Keypair } from "@solana/web3.js";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { associatedTokenAddress } from "../../src/chains/solana/token-account.js";
import { createSolanaSigner, type SolanaSigner } from "../../src/chains/solana/transfer-signer.js";
import { solanaWallet } from "../../src/client/solana-wallet.js";
import { TOKEN_PROGRAM } from "../../src/networks.js";
import { createSolanaSandbox, type Funds, type SolanaSandbox } from "../../src/testing/index.js";
import { toBase58 } from "../../src/testing/solana/encoding.js";
import { fault, type ScriptedRpc, startScriptedRpc } from "../support/scripted-rpc.js";
import { made, offerOf, refusal, request } from "./wallet-world.js";

let sandbox: SolanaSandbox;
let rpc: ScriptedRpc;
beforeAll(async () => {
  sandbox = await createSolanaSandbox();
  rpc = await startScriptedRpc(sandbox.rpcUrl);
});
afterEach(() => rpc.clear());
afterAll(async () => {
  await rpc.close();
  await sandbox.close();
});

const RENT = 890_880n;
const sol = (parts = {}) => offerOf("solana-devnet", "native", { payTo: sandbox.payTo, amount: 1_000_000n, ...parts });
const usdc = (parts = {}) => {
  const feePayer = sandbox.feePayer.publicKey.toBase58();
  return offerOf("solana-devnet", sandbox.usdc, { payTo: sandbox.payTo, extra: { feePayer }, ...parts });
};
const newWallet = async (funds?: Funds) => solanaWallet(await sandbox.newBuyer(funds), { rpcUrl: rpc.url });
const fresh = () => Keypair.generate().publicKey.toBase58();

describe("a wallet that holds too little", () => {
  it("of SOL for price and fee says what is needed and what is there", async () => {
    const wallet = await newWallet({ lamports: 1_000_000n });
    const [code, message] = await refusal(wallet.sign(sol(), request()));
    expect(code).toBe("insufficient_funds");
    expect(message).toMatch(/^needs 0\.0010\d+ SOL; \w+ holds 0\.001 SOL$/);
  });

  it("of SOL to exist afterwards says so", async () => {
    const wallet = await newWallet({ lamports: 1_000_000n + 100_000n });
    const [code, message] = await refusal(wallet.sign(sol(), request()));
    expect(code).toBe("insufficient_funds");
    expect(message).toMatch(
      /^needs 0\.0018\d+ SOL, 0\.00089088 SOL that an account must keep among it; \w+ holds 0\.0011 SOL$/,
    );
  });

  it("of the token says so", async () => {
    const wallet = await newWallet({ balance: 9_999n });
    const [code, message] = await refusal(wallet.sign(usdc(), request()));
    expect([code, message]).toEqual(["insufficient_funds", expect.stringMatching(/expected 10000 .* holds 9999$/)]);
  });
});

describe("a payee", () => {
  it("that holds nothing must get what it needs to exist", async () => {
    const wallet = await newWallet();
    const payTo = fresh();
    expect(await refusal(wallet.sign(sol({ payTo, amount: RENT - 1n }), request()))).toEqual([
      "signing_failed",
      `${payTo} holds 0 SOL and must hold at least 0.00089088 SOL to exist, which a payment of 0.000890879 SOL does not reach`,
    ]);
    made(await wallet.sign(sol({ payTo, amount: RENT }), request()));
  });

  it("that holds enough may get the smallest amount", async () => {
    const payTo = fresh();
    sandbox.chain.airdrop(payTo, RENT);
    made(await (await newWallet()).sign(sol({ payTo, amount: 1n }), request()));
  });

  it("without a token account for the token is told", async () => {
    const payTo = fresh();
    const [code, message] = await refusal((await newWallet()).sign(usdc({ payTo }), request()));
    expect([code, message]).toEqual([
      "signing_failed",
      `${payTo} has no token account for ${sandbox.usdc} that can receive`,
    ]);
  });

  it("that nobody can hold the key of gets no SOL", async () => {
    // The address of a token account is derived, and so no point of the curve; of an owner who has none, nobody opened it.
    const payTo = String(await associatedTokenAddress(fresh(), sandbox.usdc, TOKEN_PROGRAM));
    expect((await refusal((await newWallet()).sign(sol({ payTo }), request())))[1]).toBe(
      `no account is at ${payTo} and no key can open one`,
    );
  });
});

describe("a node", () => {
  it("of another cluster signs nothing, and the wallet takes no such offer any more", async () => {
    const wallet = await newWallet();
    const offer = offerOf("solana", "native", { payTo: sandbox.payTo });
    expect(wallet.takes(offer)).toBe(true);
    expect((await refusal(wallet.sign(offer, request())))[1]).toMatch(/expected a node of solana:5eykt4U/);
    expect(wallet.takes(offer)).toMatch(/; add a node of solana: solanaWallet\(…/);
    expect(wallet.takes(sol())).toBe(true);
  });

  it.each(["getLatestBlockhash", "getMultipleAccounts", "simulateTransaction", "getMinimumBalanceForRentExemption"])(
    "that does not answer %s makes no payment, and says so without its URL",
    async (method) => {
      const wallet = await newWallet();
      rpc.script(method, fault.status(502), 5);
      expect(await refusal(wallet.sign(sol(), request()))).toEqual([
        "signing_failed",
        expect.stringMatching(/^127\.0\.0\.1:\d+: HTTP status 502$/),
      ]);
    },
  );

  it("cannot make the network fee dear: neither by the price of a unit nor by their number", async () => {
    const wallet = await newWallet({ lamports: 2_000_000n });
    rpc.script("getRecentPrioritizationFees", fault.lie([{ slot: 1, prioritizationFee: 1e15 }]));
    rpc.script(
      "simulateTransaction",
      fault.twist((truth) => withUnits(truth, 1_400_000)),
    );
    // A million lamports are left beside the price: with the node's own word, the fee would be many times that.
    made(await wallet.sign(sol({ amount: 1_000_000n }), request()));
  });

  it("that would refuse the payment makes none", async () => {
    const wallet = await newWallet();
    const error = { InstructionError: [2, { Custom: 9 }] };
    rpc.script(
      "simulateTransaction",
      fault.twist((truth) => withError(truth, error)),
    );
    expect(await refusal(wallet.sign(sol(), request()))).toEqual([
      "signing_failed",
      'the chain would refuse the payment: {"InstructionError":[2,{"Custom":9}]}',
    ]);
  });
});

describe("a signer", () => {
  const over = async (sign: SolanaSigner["sign"]) => {
    const { publicKey } = await sandbox.newBuyer();
    return solanaWallet({ address: publicKey.toBase58(), sign }, { rpcUrl: rpc.url });
  };

  it("that fails or refuses is told in its own words", async () => {
    const locked = await over(() => Promise.reject(new Error("the device is locked")));
    const declined = await over(() => Promise.reject(Object.assign(new Error("User rejected"), { code: 4001 })));
    for (const offer of [sol(), usdc()]) {
      expect((await refusal(locked.sign(offer, request())))[1]).toBe("the account did not sign: the device is locked");
      expect(await refusal(declined.sign(offer, request()))).toEqual(["signing_failed", "declined"]);
    }
  });

  it("that signs with another key than its address says pays nothing", async () => {
    const other = createSolanaSigner(toBase58(Keypair.generate().secretKey));
    const wallet = await over(other.sign);
    for (const offer of [sol(), usdc()]) {
      expect(await refusal(wallet.sign(offer, request()))).toEqual([
        "signing_failed",
        `the account did not sign: the signature is not one of ${wallet.address}`,
      ]);
    }
  });

  it("that never answers is left when the caller gives up, with his reason", async () => {
    const asked = vi.fn(() => new Promise<Uint8Array>(() => {}));
    const wallet = await over(asked);
    const stop = new AbortController();
    const reason = new Error("enough");
    const signing = wallet.sign(sol(), request({ signal: stop.signal }));
    await vi.waitUntil(() => asked.mock.calls.length === 1, { timeout: 10_000 });
    stop.abort(reason);
    await expect(signing).rejects.toBe(reason);
    await expect(wallet.sign(sol(), request({ signal: stop.signal }))).rejects.toBe(reason);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it("is not asked for a proof that would be over at once", async () => {
    const asked = vi.fn(async () => new Uint8Array(64));
    const wallet = await over(asked);
    expect((await refusal(wallet.sign(sol(), request({ validUntil: Date.now() }))))[1]).toMatch(/good for 0 s only/);
    expect(asked).not.toHaveBeenCalled();
  });
});

it("an offer that the wallet does not take is not signed", async () => {
  const wallet = await newWallet();
  const offer = usdc({ extra: { feePayer: wallet.address } });
  expect(await refusal(wallet.sign(offer, request()))).toEqual(["signing_failed", wallet.takes(offer)]);
});

interface Simulated {
  readonly value: object;
}
const withUnits = (truth: unknown, unitsConsumed: number) => ({
  ...(truth as Simulated),
  value: { ...(truth as Simulated).value, unitsConsumed },
});
const withError = (truth: unknown, err: object) => ({
  ...(truth as Simulated),
  value: { ...(truth as Simulated).value, err },
});
