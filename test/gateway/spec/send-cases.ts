// The specification's "Send-payment request": each field on both endpoints, and the bounds of the hosted one.
import { parseTransaction, type TransactionSerializableEIP1559 } from "viem";
import { expect } from "vitest";
import type { Answer } from "../call.js";
import { type Make, NO_NUMBER, NO_TEXT, notTaken, ok, type Part, refused, row, type SpecCase } from "./case.js";
import type { Ground } from "./ground.js";
import { bodyOf, buildSend, buildSendSol, type Change, send, sendSol } from "./requests.js";

type Request = (change?: Change) => Make;

/** Price and gas of what was sent or built. */
type Fees = (ground: Ground, answer: Answer) => Promise<{ readonly tip: bigint; readonly gas: bigint }>;

const sentFees: Fees = async ({ evm }, { body }) => {
  const sent = (await evm.chain.rpc("eth_getTransactionByHash", [body.signature])) as Record<string, string>;
  return { tip: BigInt(sent.maxPriorityFeePerGas ?? 0), gas: BigInt(sent.gas ?? 0) };
};
const builtFees: Fees = async (_ground, { body }) => {
  const bytes = Buffer.from(String(body.transaction), "base64").toString("hex");
  const { maxPriorityFeePerGas = 0n, gas = 0n } = parseTransaction(`0x${bytes}`) as TransactionSerializableEIP1559;
  return { tip: maxPriorityFeePerGas, gas };
};

const recordIs =
  (wanted: object) =>
  async ({ world, wallet }: Ground, { body }: Answer) => {
    const key = wallet.apiKey;
    const record = await world.call("GET", `/payment/status/${String(body.paymentId)}`, undefined, { key });
    expect(record.body).toMatchObject(wanted);
  };

/** Every row of the table, on one endpoint. */
function fields(endpoint: string, onEvm: Request, onSolana: Request, feesOf: Fees): readonly SpecCase[] {
  const table = `Send-payment request, on ${endpoint}`;
  const walletAddress: readonly Part[] = [
    {
      shows: "in EVM format is a wallet on the default EVM network",
      ask: onEvm(),
      answers: ok({ network: "eip155:84532" }),
      after: (_ground, answer, asked) => expect(answer.body.sender).toBe(bodyOf(asked).walletAddress),
    },
    {
      shows: "in Solana format is a wallet on the default Solana network",
      ask: onSolana(),
      answers: ok(),
      after: ({ solana }, answer, asked) =>
        expect(answer.body).toMatchObject({ network: solana.caip2, sender: bodyOf(asked).walletAddress }),
    },
    ...notTaken("walletAddress", [undefined, "", "0x12", "O0Il".repeat(10), "nobody", ...NO_TEXT], onEvm),
  ];
  const recipientAddress: readonly Part[] = [
    {
      shows: "is the one that is paid",
      ask: onEvm(),
      answers: ok(),
      after: (_ground, { body }, asked) =>
        expect(String(body.recipient).toLowerCase()).toBe(bodyOf(asked).recipientAddress),
    },
    {
      shows: "is the one that is paid on Solana",
      ask: onSolana(),
      answers: ok(),
      after: (_ground, { body }, asked) => expect(body.recipient).toBe(bodyOf(asked).recipientAddress),
    },
    ...notTaken("recipientAddress", [undefined, "", ...NO_TEXT], onEvm),
    {
      shows: "of the other chain family is an INVALID_RECIPIENT",
      ask: onEvm(({ solana }) => ({ recipientAddress: solana.seller })),
      answers: refused(400, "INVALID_RECIPIENT"),
    },
  ];
  const amount: readonly Part[] = [
    {
      shows: "is in the chain's native currency: ETH has 18 decimals",
      ask: onEvm({ amount: 0.0025 }),
      answers: ok({ asset: "ETH", amount: 0.0025, amountAtomic: "2500000000000000" }),
    },
    {
      shows: "is in the chain's native currency: SOL has 9 decimals",
      ask: onSolana({ amount: 0.0025 }),
      answers: ok({ asset: "SOL", amount: 0.0025, amountAtomic: "2500000" }),
    },
    {
      shows: "finer than the currency is refused",
      ask: onSolana({ amount: "0.0010000001" }),
      answers: refused(400, "INVALID_REQUEST", "amount"),
    },
    ...notTaken("amount", [undefined, 0, -1, ...NO_NUMBER], onEvm),
  ];
  const URL = "https://shop.example/report?id=7";
  const resource: readonly Part[] = [
    {
      shows: "is kept in the record",
      ask: onEvm({ resource: URL }),
      answers: ok(),
      after: recordIs({ resource: URL }),
    },
    { shows: "may be absent, and is null then", ask: onEvm(), answers: ok(), after: recordIs({ resource: null }) },
    ...notTaken("resource", ["", "x".repeat(2049), ...NO_TEXT], onEvm),
  ];
  const about = { description: "a report", reference: { id: 7, tags: ["ü", "b"] } };
  const metadata: readonly Part[] = [
    {
      shows: "with a description and a reference id is kept in the record",
      ask: onEvm({ metadata: about }),
      answers: ok(),
      after: recordIs({ metadata: about }),
    },
    { shows: "may be absent, and is null then", ask: onEvm(), answers: ok(), after: recordIs({ metadata: null }) },
    ...notTaken("metadata", ["x", 7, null, true, [], { much: "x".repeat(4096) }], onEvm),
  ];
  const priorityFee: readonly Part[] = [
    {
      shows: "is the whole of what the transaction gives on top",
      ask: onEvm({ priorityFee: 0.001 }),
      answers: ok(),
      async after(ground, answer) {
        const { tip, gas } = await feesOf(ground, answer);
        const lost = 10n ** 15n - tip * gas;
        // A price is whole wei for each unit of gas.
        expect(lost >= 0n && lost < gas, `${tip} for ${gas}`).toBe(true);
      },
    },
    { shows: "is taken on Solana", ask: onSolana({ priorityFee: 0.001 }), answers: ok() },
    {
      shows: "is automatic by default: what the chain's node suggests",
      ask: onEvm(),
      answers: ok(),
      async after(ground, answer) {
        const { tip } = await feesOf(ground, answer);
        expect(tip).toBe(BigInt(String(await ground.evm.chain.rpc("eth_maxPriorityFeePerGas", []))));
      },
    },
    ...notTaken("priorityFee", [-1, 0.0101, ...NO_NUMBER], onEvm),
  ];
  return [
    ...row(table, "walletAddress | string | yes | the caller's wallet address (EVM or Solana format)", walletAddress),
    ...row(table, "recipientAddress | string | yes | the recipient's wallet address", recipientAddress),
    ...row(table, "amount | number | yes | in the chain's native currency", amount),
    ...row(table, "resource | string | no | URL of the protected resource being accessed", resource),
    ...row(table, "metadata | object | no | additional payment metadata", metadata),
    ...row(table, "priorityFee | number | no | network priority fee; default automatic", priorityFee),
  ];
}

const BOUNDS = "Bounds of the send-payment request";
const within = (field: string, taken: readonly unknown[], not: readonly unknown[]): readonly Part[] => [
  ...taken.map((value) => ({ shows: `takes ${JSON.stringify(value)}`, ask: send({ [field]: value }), answers: ok() })),
  ...notTaken(field, not, send),
];

export const SEND_CASES: readonly SpecCase[] = [
  ...fields("POST /payment/send", send, sendSol, sentFees),
  ...fields("POST /transaction/send", buildSend, buildSendSol, builtFees),
  ...row(BOUNDS, "POST /payment/send: amount minimum 0.001", [
    ...within("amount", [0.001, "0.001"], [0.000999, "0.000999999999999999"]),
  ]),
  ...row(BOUNDS, "POST /payment/send: amount maximum 100", [
    ...within("amount", [100, "100.000000000000000000"], [100.000001, "100.000000000000000001"]),
  ]),
  ...row(BOUNDS, "POST /payment/send: priorityFee range 0.00001 to 0.01", [
    ...within("priorityFee", [0.00001, 0.01], [0, 0.000009, "0.000009999999999999", "0.010000000000000001", 0.0101]),
  ]),
  ...row(BOUNDS, "POST /transaction/send: no bounds", [
    {
      shows: "an amount below 0.001 is taken",
      ask: buildSend({ amount: 0.000001 }),
      answers: ok({ amount: 0.000001 }),
    },
    { shows: "an amount above 100 is taken", ask: buildSend({ amount: 250 }), answers: ok({ amount: 250 }) },
    { shows: "a priority fee below 0.00001 is taken", ask: buildSend({ priorityFee: 0.000001 }), answers: ok() },
  ]),
];
