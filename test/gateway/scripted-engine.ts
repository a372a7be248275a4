// An engine that does as it is told, for what stands in front of it: it counts what reaches it and answers by example.
import type { Caller } from "../../src/gateway/caller.js";
import type { Engine } from "../../src/gateway/engine.js";
import type { Outcome } from "../../src/gateway/errors.js";
import { EXAMPLES } from "../../src/gateway/http/examples.js";

type Verb = Exclude<keyof Engine, "supported">;

export interface Reached {
  readonly verb: Verb;
  readonly caller: Caller;
  readonly request: unknown;
}

export interface ScriptedEngine {
  readonly engine: Engine;
  readonly reached: readonly Reached[];
  /** What the verb does from now on; undefined = its example again. */
  answer(verb: Verb, act: ((reached: Reached) => Promise<Outcome<object>>) | undefined): void;
  /** The verb answers when the returned function says so, to all that wait. */
  hold(verb: Verb): (value: object) => void;
}

export function scriptEngine(): ScriptedEngine {
  const reached: Reached[] = [];
  const acts = new Map<Verb, (reached: Reached) => Promise<Outcome<object>>>();
  const play = (verb: Verb, caller: Caller, request: unknown) => {
    const call = { verb, caller, request };
    reached.push(call);
    const act = acts.get(verb) ?? (async () => ({ ok: true as const, value: EXAMPLES[verb].answer }));
    // Safe because what is scripted is looked at by the test alone.
    return act(call) as Promise<never>;
  };
  return {
    reached,
    answer: (verb, act) => void (act ? acts.set(verb, act) : acts.delete(verb)),
    hold(verb) {
      const waiting: ((outcome: Outcome<object>) => void)[] = [];
      acts.set(verb, () => new Promise((resolve) => waiting.push(resolve)));
      return (value) => {
        for (const resolve of waiting.splice(0)) resolve({ ok: true, value });
      };
    },
    engine: {
      send: (caller, request) => play("send", caller, request),
      receive: (caller, request) => play("receive", caller, request),
      status: (caller, id) => play("status", caller, id),
      history: (caller, address, query) => play("history", caller, { address, query }),
      buildSend: (caller, request) => play("buildSend", caller, request),
      buildReceive: (caller, request) => play("buildReceive", caller, request),
      transaction: (caller, request) => play("transaction", caller, request),
      verify: (caller, request) => play("verify", caller, request),
      settle: (caller, request) => play("settle", caller, request),
      challenge: (caller, request) => play("challenge", caller, request),
      prove: (caller, request) => play("prove", caller, request),
      supported: () => ({ kinds: [], extensions: [], signers: {} }),
    },
  };
}

/** Every endpoint behind a key, with a request that it takes. */
export const REQUESTS = [
  ["POST", "/payment/send", EXAMPLES.send.request],
  ["POST", "/payment/receive", EXAMPLES.receive.request],
  ["GET", `/payment/status/${EXAMPLES.status.answer.paymentId}`, undefined],
  ["GET", `/payment/history/${EXAMPLES.history.answer.walletAddress}`, undefined],
  ["POST", "/transaction/send", EXAMPLES.buildSend.request],
  ["POST", "/transaction/receive", EXAMPLES.buildReceive.request],
  ["GET", `/transaction/${EXAMPLES.transaction.id}?network=eip155:84532`, undefined],
  ["POST", "/verify", EXAMPLES.verify.request],
  ["POST", "/settle", EXAMPLES.settle.request],
  ["POST", "/wallets/challenge", EXAMPLES.challenge.request],
  ["POST", "/wallets/prove", EXAMPLES.prove.request],
] as const;

/** Has the form of a key, and is none. */
export const NOBODY_KEY = `tg_test_${"N".repeat(44)}`;
