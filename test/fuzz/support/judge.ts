// A paywall whole but for its framework: the guard, the memory store and the local receiver on a sandbox chain behind a
// proxy that counts. `judge` gives it headers and plays a handler that fails, so that no money ever has to move.
import { silentLogger } from "../../../src/logger.js";
import { createPaywallCore } from "../../../src/paywall.js";
import type { Answer } from "../../../src/request.js";
import { memoryStore } from "../../../src/store/memory.js";
import { type Challenge, createSandbox, type Sandbox, type Signer, signPayment } from "../../../src/testing/index.js";
import { decodeHeader } from "../../../src/wire/header.js";
import { makeRequest } from "../../support/world.js";
import { startCountedRpc } from "./counted-rpc.js";

export interface Judged {
  readonly status: number;
  readonly code: unknown;
  /** The proof was good: the handler would run. */
  readonly admitted: boolean;
  /** Requests to the chain that this one caused. */
  readonly calls: number;
  readonly ms: number;
}

/** A good payment for the judge's price, as the buyer would send it. */
export interface Base {
  readonly version: 1 | 2;
  readonly payload: object;
  /** The same payment in the other version. */
  readonly twin: object;
  /** What the money hangs on, in one spelling. */
  readonly identity: string;
}

export interface Judge {
  readonly sandbox: Sandbox;
  /** What the paywall itself took for its own failure. */
  readonly failures: string[];
  judge(headers: Record<string, string>): Promise<Judged>;
  sign(account: Signer, version: 1 | 2): Promise<Base>;
  close(): Promise<void>;
}

export async function createJudge(): Promise<Judge> {
  const sandbox = await createSandbox();
  const rpc = await startCountedRpc(sandbox.rpcUrl);
  const failures: string[] = [];
  const { payTo, network } = sandbox;
  const logger = {
    ...silentLogger,
    error: (message: string, facts?: object) => void failures.push(`${message} ${JSON.stringify(facts)}`),
  };
  const options = { payTo, network, receive: sandbox.receive({ rpcUrl: rpc.url }), store: memoryStore(), logger };
  const core = createPaywallCore(options, { from: "argument", price: "$0.01" }, {});
  const guard = core.defaultGuard();
  await core.ready();

  const judge: Judge["judge"] = async (headers) => {
    const [before, start] = [rpc.requests(), performance.now()];
    const verdict = await guard(makeRequest({ headers }));
    const cost = () => ({ calls: rpc.requests() - before, ms: performance.now() - start });
    if (verdict.kind === "open") throw new Error("the guard let a request through without a payment");
    if (verdict.kind === "replay") throw new Error("the guard gave an answer that was never made");
    if (verdict.kind === "refuse") return { ...read(verdict.answer), admitted: false, ...cost() };
    const outcome = await verdict.capture.failed();
    verdict.capture.ended();
    await outcome.delivery.delivered();
    return { status: 0, code: undefined, admitted: true, ...cost() };
  };

  const challenge = await guard(makeRequest({}));
  if (challenge.kind !== "refuse") throw new Error("no challenge");
  const header = challenge.answer.headers.find(([name]) => name === "PAYMENT-REQUIRED")?.[1];
  const required = decodeHeader(header ?? "");
  if (!required.ok) throw new Error(required.problem);
  // Extensions are echoed too, with a retry key, so that they are mutated as well.
  const challenged = required.value as Challenge;
  const [offer] = challenged.accepts;
  if (!offer) throw new Error("no offer");

  return {
    sandbox,
    failures,
    judge,
    async sign(account, version) {
      const buy = { account, offer, challenge: challenged, retryKey: "retry-key-0123456789" };
      const { payload, message, signature } = await signPayment({ ...buy, version });
      const twin = await signPayment({ ...buy, version: version === 1 ? 2 : 1, overrides: message, signature });
      return { version, payload, twin: twin.payload, identity: identityOf(payload) };
    },
    async close() {
      await core.close();
      await rpc.close();
      await sandbox.close();
    },
  };
}

function read({ status, body }: Answer): Pick<Judged, "status" | "code"> {
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  return { status, code: (JSON.parse(text) as Record<string, unknown>).code };
}

/** Authorization and signature of a payload in one spelling; throws where they are not there. */
export function identityOf(payload: unknown): string {
  const { signature, authorization: a } = (
    payload as { payload: { signature: string; authorization: Record<string, string> } }
  ).payload;
  const hex = [a.from, a.to, a.nonce, signature].map((text) => String(text).toLowerCase());
  return JSON.stringify([...hex, a.value, a.validAfter, a.validBefore]);
}

/** The payload of a header text, read without any of the paywall's own code. */
export function readHeader(text: string): unknown {
  const bytes = Buffer.from(text.trim().replaceAll("-", "+").replaceAll("_", "/"), "base64");
  return JSON.parse(bytes.toString("utf8"));
}
