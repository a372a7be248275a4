// The question before the first payment to a host. Where nobody can be asked, an unknown host is not paid unless --yes was said.
import type { ApprovalRequest } from "../../client/settings.js";
import type { Io } from "../io.js";
import { printable } from "../print.js";
import { askYes } from "../prompt.js";
import type { PayState } from "./state.js";

export interface Approval {
  approve(request: ApprovalRequest): Promise<boolean>;
  /** It was no because nobody sits there. */
  readonly wasNobodyThere: boolean;
}

interface Asking {
  readonly yes: boolean | undefined;
  /** The most that a request may cost, in words. */
  readonly most: string;
  readonly state: PayState;
  readonly signal: AbortSignal;
}

export function createApproval(io: Io, { yes, most, state, signal }: Asking): Approval {
  let wasNobodyThere = false;
  return {
    get wasNobodyThere() {
      return wasNobodyThere;
    },
    async approve({ url, method, host, offer, price, description }) {
      if (yes || state.knows(host)) return true;
      if (!io.stdin.isTTY || !io.stderr.isTTY) {
        wasNobodyThere = true;
        return false;
      }
      const lines = [
        `${host} was never paid from here.`,
        `  It asks    ${price} on ${offer.network.name}`,
        `  for        ${method} ${url}`,
        `  paid to    ${offer.payTo}`,
        ...(description === undefined ? [] : [`  it says    "${description}"`]),
      ];
      io.stderr.write(`${lines.map(printable).join("\n")}\n`);
      const question = `Pay, and from now on pay ${printable(host)} without asking, up to ${most} a request?`;
      if (!(await askYes(io, question, signal))) return false;
      state.remember(host);
      return true;
    },
  };
}
