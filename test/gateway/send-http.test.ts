// POST /payment/send over HTTP on the real chains, row by row of the specification's "Send-payment request" and its limits.
import { randomBytes } from "node:crypto";
import { Keypair } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { noPostgres } from "../support/postgres.js";
import type { Json } from "./call.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

let evm: Sandbox;
let solana: SolanaSandbox;
beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
});
afterAll(() => Promise.all([evm.close(), solana.close()]));

const newPayee = (): `0x${string}` => `0x${randomBytes(20).toString("hex")}`;
const newSolanaPayee = () => Keypair.generate().publicKey.toBase58();
const codeOf = ({ body }: { readonly body: Json }) => body.error?.code;
/** Each field once, however much is wrong with it. */
const fieldsOf = ({ body }: { readonly body: Json }) => [
  ...new Set(Object.values(body.error?.details ?? {}).map((detail) => String(detail?.path))),
];

describe.each(["sqlite", "postgres"] as const)("POST /payment/send on %s", (database) => {
  let world: GatewayWorld;
  let wallet: Awaited<ReturnType<GatewayWorld["newWallet"]>>;
  let solWallet: typeof wallet;
  const isAbsent = database === "postgres" && noPostgres() !== undefined;

  beforeAll(async () => {
    if (isAbsent) return;
    world = await createGatewayWorld({ database, chains: { evm, solana } });
    wallet = await world.newWallet({ family: "evm", native: 1000n * 10n ** 18n });
    solWallet = await world.newWallet({ family: "solana", native: 10n ** 12n });
  });
  afterAll(() => world?.close());

  const send = (body: object, headers: Record<string, string> = {}) => {
    const usual = { walletAddress: wallet.address, recipientAddress: newPayee(), amount: 0.001 };
    return world.call("POST", "/payment/send", { ...usual, ...body }, { key: wallet.apiKey, headers });
  };
  const sendSol = (body: object) => {
    const usual = { walletAddress: solWallet.address, recipientAddress: newSolanaPayee(), amount: 0.01 };
    return world.call("POST", "/payment/send", { ...usual, ...body }, { key: solWallet.apiKey });
  };

  describe.skipIf(isAbsent)("walletAddress | string | yes | the caller's wallet address (EVM or Solana format)", () => {
    it("pays from an EVM wallet on the default EVM network, and from a Solana wallet on the Solana one", async () => {
      const [onEvm, onSolana] = [await send({}), await sendSol({})];
      expect([onEvm.status, onEvm.body.network, onEvm.body.status]).toEqual([200, "eip155:84532", "confirmed"]);
      expect([onSolana.status, onSolana.body.network, onSolana.body.status]).toEqual([200, solana.caip2, "confirmed"]);
    });

    it("is required, and refused in any other format", async () => {
      for (const walletAddress of [undefined, "", "0x12", 7, null, "not an address"]) {
        const answer = await send({ walletAddress });
        expect([answer.status, codeOf(answer), fieldsOf(answer)]).toEqual([400, "INVALID_REQUEST", ["walletAddress"]]);
      }
    });

    it("that the key may not open is FORBIDDEN, whoever's it is", async () => {
      const account = await world.newAccount();
      const foreign = await world.newWallet({ family: "evm", account });
      const answers = [await send({ walletAddress: foreign.address }), await send({ walletAddress: newPayee() })];
      for (const answer of answers) expect([answer.status, codeOf(answer)]).toEqual([403, "FORBIDDEN"]);
      expect(answers[0]?.body.error).toEqual(answers[1]?.body.error);
    });
  });

  describe.skipIf(isAbsent)("recipientAddress | string | yes | the recipient's wallet address", () => {
    it("gets the money", async () => {
      const recipientAddress = newPayee();
      await send({ recipientAddress, amount: 0.002 });
      expect(await evm.native.balanceOf(recipientAddress)).toBe(2n * 10n ** 15n);
    });

    it("is required", async () => {
      const answer = await send({ recipientAddress: undefined });
      expect([answer.status, codeOf(answer), fieldsOf(answer)]).toEqual([400, "INVALID_REQUEST", ["recipientAddress"]]);
    });

    it.each([
      ["malformed", () => "nobody"],
      ["of the other chain family", newSolanaPayee],
      ["with a wrong checksum", () => "0x70997970c51812dc3A010C7d01b50e0d17dc79C8"],
      ["the payer himself", () => wallet.address],
      ["nobody's", () => `0x${"0".repeat(40)}`],
    ])("that is %s is an INVALID_RECIPIENT", async (_name, recipientAddress) => {
      const answer = await send({ recipientAddress: recipientAddress() });
      expect([answer.status, codeOf(answer)]).toEqual([400, "INVALID_RECIPIENT"]);
    });

    it("without an account for the token on Solana is an INVALID_RECIPIENT, too", async () => {
      const token = await sendSol({ amount: 1, asset: "USDC" });
      expect([token.status, codeOf(token)]).toEqual([400, "INVALID_RECIPIENT"]);
    });
  });

  describe.skipIf(isAbsent)(
    "amount | number | yes | in the chain's native currency; minimum 0.001, maximum 100",
    () => {
      it.each([0.001, 1e-3, "0.001", 100, "100.000000000000000000"])("takes %j", async (amount) => {
        const answer = await send({ amount });
        expect([answer.status, answer.body.amount, answer.body.asset]).toEqual([200, Number(amount), "ETH"]);
      });

      it.each([
        0.000999,
        "0.000999999999999999",
        100.000001,
        "100.000000000000000001",
        0,
        -1,
        "1e2",
        "",
        null,
        undefined,
      ])("refuses %j", async (amount) => {
        const answer = await send({ amount });
        expect([answer.status, codeOf(answer), fieldsOf(answer)]).toEqual([400, "INVALID_REQUEST", ["amount"]]);
      });

      it("is in whole units of the asset that the request names, with the same bounds", async () => {
        const recipientAddress = newPayee();
        const answer = await send({ recipientAddress, amount: 100, asset: "USDC" });
        expect([answer.status, answer.body.amountAtomic]).toEqual([200, "100000000"]);
        expect(await evm.token.balanceOf(recipientAddress)).toBe(100_000_000n);
        expect((await send({ amount: 101, asset: "USDC" })).status).toBe(400);
        const fine = await send({ amount: "0.0010001", asset: "USDC" });
        expect([fine.status, fieldsOf(fine)]).toEqual([400, ["amount"]]);
      });
    },
  );

  describe.skipIf(isAbsent)("resource | string | no | URL of the protected resource being accessed", () => {
    it("comes back in the answer and in the record, and is null where it is absent", async () => {
      const resource = "https://shop.example/report?id=7";
      const [named, none] = [await send({ resource }), await send({})];
      expect([named.body.resource, none.body.resource]).toEqual([resource, null]);
      const status = await world.call("GET", `/payment/status/${named.body.paymentId}`, undefined, {
        key: wallet.apiKey,
      });
      expect(status.body.resource).toBe(resource);
    });
  });

  describe.skipIf(isAbsent)("metadata | object | no | additional payment metadata", () => {
    it("comes back in the answer and in the record, and is null where it is absent", async () => {
      const metadata = { description: "lunch", reference: { id: 7, tags: ["a", "ü"] } };
      const [named, none] = [await send({ metadata }), await send({})];
      expect([named.body.metadata, none.body.metadata]).toEqual([metadata, null]);
      const status = await world.call("GET", `/payment/status/${named.body.paymentId}`, undefined, {
        key: wallet.apiKey,
      });
      expect(status.body.metadata).toEqual(metadata);
    });
  });

  describe.skipIf(isAbsent)(
    "priorityFee | number | no | network priority fee; 0.00001 to 0.01, default automatic",
    () => {
      it.each([0.00001, "0.01", 0.005])("is %j in all, as the transaction's tip", async (priorityFee) => {
        const { body } = await send({ priorityFee });
        const sent = (await evm.chain.rpc("eth_getTransactionByHash", [body.signature])) as Record<string, string>;
        const whole = BigInt(sent.maxPriorityFeePerGas ?? 0) * BigInt(sent.gas ?? 0);
        const wanted = BigInt(Math.round(Number(priorityFee) * 1e5)) * 10n ** 13n;
        expect(wanted - whole).toBeGreaterThanOrEqual(0n);
        expect(wanted - whole).toBeLessThan(BigInt(sent.gas ?? 0));
      });

      it("is paid on Solana as well", async () => {
        const [automatic, paid] = [await sendSol({}), await sendSol({ priorityFee: 0.001 })];
        expect([automatic.status, paid.status]).toEqual([200, 200]);
        expect(Number(paid.body.fee)).toBeGreaterThan(0.0005);
        expect(Number(automatic.body.fee)).toBeLessThan(0.0005);
      });

      it.each([0.000009, "0.000009999999999999", 0.0101, "0.010000000000000001", 0, -1])(
        "refuses %j",
        async (priorityFee) => {
          const answer = await send({ priorityFee });
          expect([answer.status, codeOf(answer), fieldsOf(answer)]).toEqual([400, "INVALID_REQUEST", ["priorityFee"]]);
        },
      );
    },
  );

  describe.skipIf(isAbsent)("INSUFFICIENT_BALANCE | not enough funds for payment plus fees", () => {
    it("where the amount alone is there", async () => {
      const poor = await world.newWallet({ family: "evm", native: 10n ** 15n });
      const asked = { walletAddress: poor.address, recipientAddress: newPayee(), amount: 0.001 };
      const answer = await world.call("POST", "/payment/send", asked, { key: poor.apiKey });
      expect([answer.status, codeOf(answer)]).toEqual([400, "INSUFFICIENT_BALANCE"]);
      expect(answer.body.error).toMatchObject({ action: "Add funds to the wallet", retryable: false });
    });
  });

  describe.skipIf(isAbsent)("Idempotency-Key", () => {
    it("gives the same answer to the same request, and moves the money once", async () => {
      const recipientAddress = newPayee();
      const headers = { "Idempotency-Key": randomBytes(8).toString("hex") };
      const [first, again] = [await send({ recipientAddress }, headers), await send({ recipientAddress }, headers)];
      expect([again.status, again.body]).toEqual([200, first.body]);
      expect(await evm.native.transfers({ to: recipientAddress })).toHaveLength(1);
      expect((await send({ recipientAddress, amount: 0.002 }, headers)).status).toBe(409);
    });
  });

  describe.skipIf(isAbsent)("what stands in no other answer", () => {
    it("is the proof: neither status nor history nor log show it or its secret", async () => {
      const { body } = await send({});
      const { payload } = JSON.parse(Buffer.from(String(body.paymentProof), "base64").toString()) as Json;
      const at = { key: wallet.apiKey };
      const others = await Promise.all([
        world.call("GET", `/payment/status/${body.paymentId}`, undefined, at),
        world.call("GET", `/payment/history/${wallet.address}`, undefined, at),
      ]);
      const secret = String(payload?.secret).slice(2);
      expect(secret).toMatch(/^[0-9a-f]{64}$/);
      for (const text of [...others.map((answer) => answer.text), ...world.log.lines]) {
        expect(text).not.toContain(secret);
        expect(text).not.toContain(String(body.paymentProof));
      }
    });
  });
});
