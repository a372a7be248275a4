// Amounts that no chain has, and a process that was asleep while another one did its work: nobody is told a thing that is not so.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFacilitatorEndpoints } from "../../src/gateway/receive/facilitator.js";
import { resumeSettlement } from "../../src/gateway/watch/settlement.js";
import type { Receiver } from "../../src/receive/receiver.js";
import { facilitatorRequestBody } from "../../src/wire/facilitator.js";
import { bodyOf } from "./facilitating.js";
import { newEvmAddress, onEvm, onSolana } from "./receiving.js";
import { type BothWorld, createBothWorld } from "./world.js";

let world: BothWorld;
beforeAll(async () => {
  world = await createBothWorld();
});
afterAll(() => world.close());

const HUGE = [
  "9007199254740993",
  `${2n ** 64n}`,
  `${2n ** 256n}`,
  `${"9".repeat(80)}`,
  "0.000000000000000000000000000001",
  1e300,
  5e-324,
];

describe("an amount that no chain has", () => {
  it.each(HUGE)("%s is an error of the caller's, whatever the endpoint and the chain", async (amount) => {
    for (const family of ["evm", "solana"] as const) {
      for (const asset of [undefined, "USDC"]) {
        const { address } = await world.newWallet({ family });
        const kind = family === "evm" ? onEvm(world.evm, "usdc", 2) : onSolana(world.solana, "usdc", 2);
        const recipientAddress = await kind.newPayee();
        const terms = { walletAddress: address, ...(asset && { asset }) };
        const built = await world.call("POST", "/transaction/send", { ...terms, recipientAddress, amount });
        expect([built.status, built.body.error?.code]).toEqual([400, expect.stringMatching(/^(INVALID|INSUFF)/)]);
        const proof = Buffer.from("{}").toString("base64");
        for (const path of ["/payment/receive", "/transaction/receive"]) {
          const got = await world.call("POST", path, { ...terms, paymentProof: proof, expectedAmount: amount });
          expect([path, got.status]).toEqual([path, 400]);
        }
      }
    }
  });
});

describe("a process that slept while another one settled for it", () => {
  it("tells its own seller that the payment was made", async () => {
    const kind = onEvm(world.evm, "usdc", 2);
    const payTo = newEvmAddress();
    const { parts } = world.gateway;
    const { database } = parts;
    const [key] = await database.keys.list(world.account);
    const network = parts.networks.find(kind.network);
    if (!key || !network) throw new Error("there is no key, or no network");
    // It sleeps between the judgement and the announcement: the other one takes the record, and this one sends nothing.
    const settle: Receiver["settle"] = (proof, { sending, ...context }) =>
      network.receiver.settle(proof, {
        ...context,
        async sending(...announced) {
          const record = await database.payments.byProof(proof.id);
          if (!record) throw new Error("there is no record");
          await resumeSettlement(parts, record);
          await sending(...announced);
        },
      });
    const asleep = { ...network, receiver: { ...network.receiver, settle } };
    const networks = { ...parts.networks, find: () => asleep };
    const endpoints = createFacilitatorEndpoints({ ...parts, networks });
    const body = await bodyOf(kind, payTo);
    const caller = { key, requestId: "test", signal: new AbortController().signal };
    const got = await endpoints.settle(caller, facilitatorRequestBody.parse(body));
    expect(await kind.received(payTo)).toEqual([kind.units]);
    expect(got).toMatchObject({ ok: true, value: { success: true } });
  });
});
