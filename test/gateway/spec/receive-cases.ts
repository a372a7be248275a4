// The specification's "Receive-payment request": each field, on the endpoints that have it.
import { parseTransaction, type TransactionSerializableEIP1559 } from "viem";
import { expect } from "vitest";
import type { Answer } from "../call.js";
import { newEvmAddress, onEvm } from "../receiving.js";
import {
  invalid,
  type Make,
  NO_NUMBER,
  NO_TEXT,
  notTaken,
  ok,
  type Part,
  refused,
  row,
  type SpecCase,
} from "./case.js";
import type { Ground } from "./ground.js";
import {
  bodyOf,
  buildReceive,
  buildReceiveSol,
  type Change,
  ether,
  type KindOf,
  type Proving,
  receive,
  sol,
  usdcOnSolana,
} from "./requests.js";

type Request = (change?: Change, proving?: Proving) => Make;

const HOSTED = "Receive-payment request, on POST /payment/receive";
const LOCAL = "Receive-payment request, on POST /transaction/receive";
const SHOP = "https://shop.example/report";
const usdcV2: KindOf = ({ evm }) => onEvm(evm, "usdc", 2);
const badProof = refused(400, "INVALID_PAYMENT_PROOF");

const recordIs =
  (wanted: object) =>
  async (ground: Ground, { body }: Answer) => {
    const record = await ground.ask({ method: "GET", path: `/payment/status/${String(body.paymentId)}` });
    expect(record.body).toMatchObject(wanted);
  };

const askedOf = ({ foreign }: Ground): string[] => foreign.requests.map(({ endpoint }) => endpoint);

/** The rows that both endpoints have. `word`: what a permitted facilitator is asked. */
function fields(
  table: string,
  onChain: Request,
  onSolana: Make,
  proofs: readonly Part[],
  word: string,
): readonly SpecCase[] {
  const walletAddress: readonly Part[] = [
    {
      shows: "in EVM format receives",
      ask: onChain(),
      answers: ok({ network: "eip155:84532" }),
      after: (_ground, { body }, asked) =>
        expect(String(body.recipient).toLowerCase()).toBe(String(bodyOf(asked).walletAddress).toLowerCase()),
    },
    {
      shows: "in Solana format receives",
      ask: onSolana,
      answers: ok(),
      after: ({ solana }, { body }, asked) =>
        expect(body).toMatchObject({ network: solana.caip2, recipient: bodyOf(asked).walletAddress }),
    },
    {
      shows: "that the proof does not pay is an INVALID_PAYMENT_PROOF",
      ask: onChain(() => ({ walletAddress: newEvmAddress() })),
      answers: badProof,
    },
    ...notTaken("walletAddress", [undefined, "", "0x12", "O0Il".repeat(10), ...NO_TEXT], onChain),
  ];
  const expectedAmount: readonly Part[] = [
    { shows: "is a number in whole units", ask: onChain({ expectedAmount: 0.01 }), answers: ok({ amount: 0.01 }) },
    {
      shows: "that was not paid is an INVALID_PAYMENT_PROOF",
      ask: onChain({ expectedAmount: 0.02 }),
      answers: badProof,
    },
    {
      shows: "in the chain's native currency is not paid by a token",
      ask: onChain({ asset: undefined }),
      answers: badProof,
    },
    ...notTaken("expectedAmount", [undefined, 0, -1, ...NO_NUMBER], onChain),
  ];
  const resource: readonly Part[] = [
    {
      shows: "is kept in the record",
      ask: onChain({ resource: SHOP }),
      answers: ok(),
      after: recordIs({ resource: SHOP }),
    },
    { shows: "may be absent, and is null then", ask: onChain(), answers: ok(), after: recordIs({ resource: null }) },
    {
      shows: "that the proof is not for is an INVALID_PAYMENT_PROOF",
      ask: onChain({ resource: `${SHOP}/other` }, { kindOf: usdcV2, resource: SHOP }),
      answers: badProof,
    },
    ...notTaken("resource", ["", "x".repeat(2049), ...NO_TEXT], onChain),
  ];
  const facilitatorUrl: readonly Part[] = [
    {
      shows: `that the operator permits is asked to ${word}`,
      ask: onChain(({ foreign }) => ({ facilitatorUrl: foreign.url }), { kindOf: usdcV2 }),
      answers: ok(),
      after: (ground) => expect(askedOf(ground).at(-1)).toBe(word),
    },
    {
      shows: "may be absent: this gateway verifies, and nobody else is asked",
      async check(ground) {
        const before = askedOf(ground).length;
        const { status } = await ground.ask(await onChain({}, { kindOf: usdcV2 })(ground));
        expect([status, askedOf(ground).length]).toEqual([200, before]);
      },
    },
    ...notTaken(
      "facilitatorUrl",
      ["https://elsewhere.example", "http://169.254.169.254", "nothing", ...NO_TEXT],
      onChain,
    ),
  ];
  return [
    ...row(table, "walletAddress | string | yes | the receiving wallet address", walletAddress),
    ...row(table, "paymentProof | string | yes | cryptographic payment proof", [
      ...proofs,
      { shows: "that is none is an INVALID_PAYMENT_PROOF", ask: onChain({ paymentProof: "e30=" }), answers: badProof },
      ...notTaken("paymentProof", [undefined, "", "x".repeat(16 * 1024 + 1), ...NO_TEXT], onChain),
    ]),
    ...row(table, "expectedAmount | number | yes | expected payment amount", expectedAmount),
    ...row(table, "resource | string | no | protected resource being accessed", resource),
    ...row(table, "facilitatorUrl | string | no | facilitator URL used for verification", facilitatorUrl),
  ];
}

const verified = ok({ verified: true });
const built = ok({ signatureRequired: true });
const complete = ok({ signatureRequired: false });

/** Gas and tip of the transaction that collects. */
const feesOf = ({ body }: Answer): { readonly tip: bigint; readonly gas: bigint } => {
  const bytes = Buffer.from(String(body.transaction), "base64").toString("hex");
  const { maxPriorityFeePerGas = 0n, gas = 0n } = parseTransaction(`0x${bytes}`) as TransactionSerializableEIP1559;
  return { tip: maxPriorityFeePerGas, gas };
};

export const RECEIVE_CASES: readonly SpecCase[] = [
  ...fields(
    HOSTED,
    receive,
    receive({}, { kindOf: usdcOnSolana }),
    [
      { shows: "is the value of X-PAYMENT: USDC on EVM", ask: receive(), answers: verified },
      { shows: "of version 2 is taken, too", ask: receive({}, { kindOf: usdcV2 }), answers: verified },
      { shows: "in ETH is a transaction", ask: receive({}, { kindOf: ether }), answers: verified },
      { shows: "in USDC on Solana", ask: receive({}, { kindOf: usdcOnSolana }), answers: verified },
      { shows: "in SOL is a transaction", ask: receive({}, { kindOf: sol }), answers: verified },
    ],
    "settle",
  ),
  ...row(HOSTED, "timeout | number | no | verification timeout in seconds; default 30", [
    {
      shows: "ends a verification that nobody answers with 504",
      async check(ground) {
        const asked = await receive({ facilitatorUrl: ground.deaf.url, timeout: 1 }, { kindOf: usdcV2 })(ground);
        const from = performance.now();
        const { status, body } = await ground.ask(asked);
        expect([status, body.error?.code]).toEqual([504, "PAYMENT_VERIFICATION_FAILED"]);
        expect(performance.now() - from).toBeGreaterThan(990);
        // Far less than the default.
        expect(performance.now() - from).toBeLessThan(20_000);
      },
    },
    { shows: "takes up to 300", ask: receive({ timeout: 300 }), answers: verified },
    ...notTaken("timeout", [0, 0.5, 301, "30", -1, null, true], receive),
  ]),
  ...row(HOSTED, "priorityFee | POST /transaction/receive only", [
    { shows: "is refused here", ask: receive({ priorityFee: 0.001 }), answers: invalid("priorityFee") },
  ]),
  ...fields(
    LOCAL,
    buildReceive,
    buildReceiveSol(),
    [
      { shows: "is the proof from the buyer: USDC on EVM", ask: buildReceive(), answers: built },
      { shows: "of version 2 is taken, too", ask: buildReceive({}, { kindOf: usdcV2 }), answers: built },
      { shows: "in ETH is complete", ask: buildReceive({}, { kindOf: ether }), answers: complete },
      { shows: "in USDC on Solana", ask: buildReceiveSol(), answers: built },
    ],
    "verify",
  ),
  ...row(LOCAL, "timeout | POST /payment/receive only", [
    { shows: "is refused here", ask: buildReceive({ timeout: 30 }), answers: invalid("timeout") },
  ]),
  ...row(LOCAL, "priorityFee | number | no | network priority fee", [
    {
      shows: "is the whole of what the transaction gives on top",
      ask: buildReceive({ priorityFee: 0.001 }),
      answers: built,
      after(_ground, answer) {
        const { tip, gas } = feesOf(answer);
        const lost = 10n ** 15n - tip * gas;
        expect(lost >= 0n && lost < gas, `${tip} for ${gas}`).toBe(true);
      },
    },
    {
      shows: "is automatic where it is absent: what the chain's node suggests",
      ask: buildReceive(),
      answers: built,
      async after({ evm }, answer) {
        expect(feesOf(answer).tip).toBe(BigInt(String(await evm.chain.rpc("eth_maxPriorityFeePerGas", []))));
      },
    },
    ...notTaken("priorityFee", [-1, 0.0101, ...NO_NUMBER], buildReceive),
  ]),
];
