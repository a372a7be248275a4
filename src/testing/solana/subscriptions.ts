// Subscriptions of one WebSocket connection: signatures, accounts and slots, each told when its commitment is reached.
import { accountJson } from "./account-json.js";
import { toJson } from "./encoding.js";
import type { Ledger } from "./ledger.js";
import { addressAt, configAt, levelOf, type Params, textAt } from "./params.js";
import { inContext } from "./read-methods.js";
import { invalidParams } from "./rpc-error.js";
import type { Svm } from "./svm.js";

export interface Subscriptions {
  /** The answer of a subscribe or unsubscribe method; `undefined` where the method is neither. */
  call(method: string, params: Params): unknown;
  /** Tells what a fresh subscription already waits for; run once its id has been sent. */
  settle(): void;
  end(): void;
}

let ids = 0;

/** `send` puts one text on the connection. */
export function createSubscriptions(ledger: Ledger, svm: Svm, send: (text: string) => void): Subscriptions {
  const active = new Map<number, (event?: "landed" | "closed") => void>();
  const stop = ledger.watch(run);

  function run(event?: "landed" | "closed"): void {
    for (const check of [...active.values()]) check(event);
  }
  function open(check: (id: number, event?: "landed" | "closed") => void): number {
    ids += 1;
    const id = ids;
    active.set(id, (event) => check(id, event));
    return id;
  }
  const notify = (method: string, subscription: number, result: unknown) =>
    send(toJson({ jsonrpc: "2.0", method, params: { result, subscription } }));

  const methods: Readonly<Record<string, (params: Params) => unknown>> = {
    signatureSubscribe(params) {
      const signature = textAt(params, 0);
      const config = configAt(params, 1);
      const level = levelOf(ledger, config);
      return open((id) => {
        const landed = ledger.landed(signature);
        if (landed === undefined || landed.slot > ledger.slot(level)) return;
        active.delete(id);
        notify("signatureNotification", id, inContext(ledger.slot(level), { err: landed.execution.err }));
      });
    },
    accountSubscribe(params) {
      const address = addressAt(params, 0);
      const config = configAt(params, 1);
      const level = levelOf(ledger, config);
      const read = () => accountJson(ledger.account(address, level), config, (mint) => svm.account(mint));
      let last = toJson(read());
      return open((id) => {
        const account = read();
        if (toJson(account) === last) return;
        last = toJson(account);
        notify("accountNotification", id, inContext(ledger.slot(level), account));
      });
    },
    slotSubscribe: () =>
      open((id, event) => {
        if (event !== "closed") return;
        const slot = ledger.slot("processed");
        notify("slotNotification", id, { parent: slot - 1n, root: ledger.slot("finalized"), slot });
      }),
  };

  return {
    call(method, params) {
      if (!/^(signature|account|slot)(Uns|S)ubscribe$/.test(method)) return undefined;
      const subscribe = methods[method];
      if (subscribe !== undefined) return subscribe(params);
      const id = params[0];
      if (typeof id !== "number" || !active.delete(id)) throw invalidParams("Invalid subscription id.");
      return true;
    },
    settle: () => run(),
    end() {
      active.clear();
      stop();
    },
  };
}
