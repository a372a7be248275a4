// Every code of the table reaches a buyer as an answer that explains itself: status, code, words, what to do, whether
// money moved. The record below does not compile while a code is missing.
import { describe, expect, it } from "vitest";
import { ERRORS, type ErrorCode, reasonOf } from "../src/errors.js";
import { memoryStore } from "../src/store/memory.js";
import { createFakeClock } from "./support/fake-clock.js";
import {
  BUYER,
  broken,
  createWorld,
  type Handler,
  PAYER,
  type Sent,
  scriptedReceiver,
  TRANSACTION,
  type WorldOptions,
} from "./support/world.js";

type Producer = () => Promise<Sent>;

const KEY = "retry-key-0123456789";
const paid = async (options: WorldOptions = {}, handler?: Handler) => {
  const world = createWorld(options);
  return world.send({ headers: await world.sign() }, handler);
};
/** What the receivers say of a proof; which of them says it when is tested where they are. */
const verified =
  (code: ErrorCode): Producer =>
  async () => {
    const world = createWorld();
    world.receiver.verification = { outcome: "invalid", code };
    return world.send({ headers: await world.sign() });
  };
const unavailable =
  (code: ErrorCode): Producer =>
  async () => {
    const world = createWorld();
    world.receiver.verification = { outcome: "unavailable", code, message: "scripted" };
    return world.send({ headers: await world.sign() });
  };
const signed =
  (changes: Parameters<ReturnType<typeof createWorld>["sign"]>[0]): Producer =>
  async () => {
    const world = createWorld();
    return world.send({ headers: await world.sign(changes) });
  };
const at = (from: number) => String(Math.floor(createFakeClock().now() / 1000) + from);
const header =
  (value: string): Producer =>
  () =>
    createWorld().send({ headers: { "X-PAYMENT": value } });
/** ETH, paid by a transaction of the buyer's own. */
const NATIVE_PRICE = { amount: "1000", asset: "native", network: "base-sepolia" };
const shown = async (change: (world: ReturnType<typeof createWorld>) => void) => {
  const world = createWorld({ price: NATIVE_PRICE });
  change(world);
  return world.send({ headers: await world.show({ key: "sender/1" }) });
};
const never: Handler = () => new Promise(() => {});
/** A pass for one more use of `/report`, and what comes of it when it is shown. */
const shownPass =
  (
    change: (token: string, world: ReturnType<typeof createWorld>) => string | Promise<string>,
    target = "/report",
  ): Producer =>
  async () => {
    const world = createWorld({ terms: { pass: { uses: 2, ms: 60_000 } } });
    const sold = await world.send({ headers: await world.sign() });
    const token = await change(sold.header("Payment-Pass") ?? "", world);
    return world.send({ target, headers: { "Payment-Pass": token } });
  };

const PRODUCERS: Record<ErrorCode, Producer> = {
  payment_required: () => createWorld().send({}),
  offer_mismatch: signed({ accepted: { amount: "1" } }),
  extension_echo_mismatch: signed({ extensions: { "payment-identifier": { info: { required: true }, schema: {} } } }),
  unsupported_scheme: signed({ accepted: { scheme: "upto" } }),
  recipient_mismatch: signed({ authorization: { to: BUYER.address } }),
  amount_mismatch: signed({ authorization: { value: "9999" } }),
  signature_invalid: verified("signature_invalid"),
  wallet_not_deployed: verified("wallet_not_deployed"),
  wallet_factory_not_allowed: verified("wallet_factory_not_allowed"),
  payment_not_yet_valid: signed({ authorization: { validAfter: at(100) } }),
  payment_expired: signed({ authorization: { validBefore: at(-100) } }),
  payment_expires_too_soon: signed({ authorization: { validBefore: at(20) } }),
  payment_valid_too_long: signed({ authorization: { validBefore: at(10_000) } }),
  insufficient_funds: verified("insufficient_funds"),
  simulation_failed: verified("simulation_failed"),
  payment_rejected: verified("payment_rejected"),
  settlement_refused: async () => {
    const world = createWorld();
    world.receiver.settlements.push(() => ({
      outcome: "refused",
      code: "settlement_refused",
      reason: "invalid_payment",
    }));
    return world.send({ headers: await world.sign() });
  },
  payment_used_elsewhere: async () => {
    const world = createWorld();
    const headers = await world.sign();
    await world.send({ headers });
    return world.send({ headers, target: "/elsewhere" });
  },
  pass_malformed: shownPass(() => "no pass"),
  pass_unknown: shownPass(() => "A".repeat(43)),
  pass_expired: shownPass(async (token, world) => {
    await world.clock.advance(60_000);
    return token;
  }),
  pass_used_up: shownPass(async (token, world) => {
    await world.send({ headers: { "Payment-Pass": token } });
    return token;
  }),
  pass_elsewhere: shownPass((token) => token, "/elsewhere"),
  payment_malformed: header("!"),
  payment_header_too_large: header("A".repeat(20_000)),
  payment_version_invalid: header(btoa('{"x402Version":3}')),
  payment_headers_conflict: async () => {
    const world = createWorld();
    return world.send({ headers: { ...(await world.sign()), ...(await world.sign({ version: 1 })) } });
  },
  retry_key_invalid: signed({ version: 1, retryKey: "?" }),
  request_malformed: () => routed("request_malformed"),
  route_not_listed: () => routed("route_not_listed"),
  payment_in_progress: async () => {
    const world = createWorld();
    const headers = await world.sign();
    void world.send({ headers }, never);
    await world.clock.advance(0);
    return world.send({ headers });
  },
  payment_already_used: async () => {
    const world = createWorld();
    const headers = await world.sign();
    await world.send({ headers });
    return world.send({ headers });
  },
  payment_secret_required: () =>
    shown(({ receiver }) => {
      receiver.verification = { outcome: "invalid", code: "payment_secret_required" };
    }),
  payment_unreferenced: () =>
    shown(({ receiver }) => {
      receiver.verification = { outcome: "invalid", code: "payment_unreferenced" };
    }),
  payment_too_old: () =>
    shown(({ receiver, clock }) => {
      receiver.verification = { outcome: "valid", payer: PAYER, minedAt: clock.now() - 1 };
    }),
  payment_too_low: () =>
    shown(({ receiver }) => {
      receiver.verification = { outcome: "invalid", code: "payment_too_low" };
    }),
  payment_not_seen: () =>
    shown(({ receiver }) => {
      receiver.identify = async () => ({ ok: false, code: "payment_not_seen" });
    }),
  too_many_payments: async () => {
    const world = createWorld({ limits: { openClaimsPerPayer: 0 } });
    return world.send({ headers: await world.sign() });
  },
  too_many_failures: async () => {
    const world = createWorld({ limits: { unchargedRunsPerProof: 1 } });
    const headers = await world.sign();
    await world.send({ headers }, broken);
    return world.send({ headers });
  },
  internal_error: async () => {
    const world = createWorld();
    const headers = await world.sign();
    world.receiver.settleMs = () => {
      throw new Error("unexpected");
    };
    return world.send({ headers });
  },
  price_invalid: () => createWorld({ price: () => "" }).send({}),
  receiver_bad_response: unavailable("receiver_bad_response"),
  not_ready: async () => {
    const receiver = scriptedReceiver();
    receiver.ready = async () => ({ state: "unreachable", message: "scripted" });
    const world = createWorld({ receiver });
    const sent = world.send({ headers: await world.sign() });
    await world.clock.advance(5000);
    return sent;
  },
  misconfigured: async () => {
    const receiver = scriptedReceiver();
    const problem = { check: "chain id", expected: "84532", got: "1", remedy: "Use a node of Base Sepolia." };
    receiver.ready = async () => ({ state: "misconfigured", problems: [problem] });
    return paid({ receiver });
  },
  receiver_unreachable: unavailable("receiver_unreachable"),
  receiver_auth: unavailable("receiver_auth"),
  store_unavailable: () => paid({ store: { ...memoryStore(), read: () => Promise.reject(new Error("down")) } }),
  store_full: () => paid({ store: memoryStore({ maxEntries: 0 }) }),
  settlement_unavailable: async () => {
    const world = createWorld();
    world.receiver.settlements.push(() => ({ outcome: "unavailable", message: "no gas" }));
    return world.send({ headers: await world.sign() });
  },
  settlement_unknown: async () => {
    const world = createWorld();
    world.receiver.settlements.push(() => ({ outcome: "unknown", transaction: TRANSACTION, message: "lost" }));
    return world.send({ headers: await world.sign({ retryKey: KEY }) });
  },
  handler_timeout: async () => {
    const world = createWorld();
    const sent = world.send({ headers: await world.sign() }, never);
    await world.clock.advance(30_000);
    return sent;
  },
};

/** A refusal by the first step, as a table or a strict table gives it. */
async function routed(code: ErrorCode): Promise<Sent> {
  const { createGuard } = await import("../src/guard.js");
  const { makeRequest } = await import("./support/world.js");
  const verdict = await createGuard(createWorld().context, () => ({ kind: "refused", code }))(makeRequest({}));
  if (verdict.kind !== "refuse") throw new Error("not refused");
  const { answer } = verdict;
  return { answer, payment: undefined, header: () => undefined, json: () => JSON.parse(String(answer.body)) };
}

describe.each(Object.entries(PRODUCERS) as [ErrorCode, Producer][])("%s", (code, produce) => {
  it("comes with its status, its words, what to do next, and whether money moved", async () => {
    const { status, title, retry, payment } = ERRORS[code];
    const sent = await produce();
    expect(sent.answer.status).toBe(status);
    expect(sent.json()).toMatchObject({ code, message: title, retry, payment, docs: `docs/errors.md#${code}` });
    expect(sent.json().error).toEqual(expect.any(String));
  });
});

it("answers v1 buyers in the words of the closed v1 list only", () => {
  const listed = new Set(
    `insufficient_funds invalid_exact_evm_payload_authorization_valid_after invalid_exact_evm_payload_authorization_valid_before
    invalid_exact_evm_payload_authorization_value invalid_exact_evm_payload_signature invalid_exact_evm_payload_undeployed_smart_wallet
    invalid_exact_evm_payload_recipient_mismatch invalid_network invalid_payload invalid_payment_requirements invalid_scheme
    invalid_payment payment_expired unsupported_scheme invalid_x402_version invalid_transaction_state unexpected_settle_error
    unexpected_verify_error duplicate_settlement`.split(/\s+/),
  );
  const codes = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => code !== "payment_required");
  expect(codes.filter((code) => !listed.has(reasonOf(code, 1)))).toEqual([]);
});
