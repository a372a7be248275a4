// What the gateway's answer to a proof that is none tells of the terms: it judges key, network, token and payee before the proof.
import type { Requirement } from "../requirement.js";
import { hideKeys } from "../secret.js";
import { errorOf } from "./hosted-answers.js";
import type { ProbePath } from "./hosted-api.js";
import type { HttpReply } from "./http.js";
import { nameOf } from "./local-receiver.js";
import type { Readiness, ReadinessProblem } from "./receiver.js";

/** The words of the receiver that asks. */
export interface ProbeWords {
  readonly path: ProbePath;
  /** Before what is named: `gateway`, or nothing. */
  readonly gateway: string;
  /** The option that holds the key, and whose it is. */
  readonly apiKey: string;
  readonly receiver: string;
  /** What the key has to permit. */
  readonly verb: "receive" | "collect";
}

/** A gateway that would take these terms has nothing against them, and something against the proof. */
export function readProbe(
  reply: HttpReply,
  { network, asset, payTo }: Pick<Requirement, "network" | "asset" | "payTo">,
  { path, gateway, apiKey, receiver, verb }: ProbeWords,
): Readiness {
  if (reply.outcome === "failed") return { state: "unreachable", message: `${gateway}: ${path}: ${reply.message}` };
  const { status } = reply;
  const error = errorOf(reply);
  if (status === 400 && error?.code === "INVALID_PAYMENT_PROOF") return { state: "ready" };
  const got = error && `${error.code}: ${hideKeys(error.message).slice(0, 300)}`;
  if (status === 401 || status === 403) {
    const expected = `a key that may ${verb} for ${payTo} on ${nameOf(network)}`;
    const remedy = `Make a key with \`tollgate keys create --scopes receive\` and set it as apiKey of ${receiver}.`;
    return misconfigured([{ check: apiKey, expected, got: got ?? `status ${status}`, remedy }]);
  }
  if (status === 400 && got !== undefined) {
    const expected = `a gateway that takes ${asset} on ${nameOf(network)} for ${payTo}`;
    const remedy = "Add the network and the token to the gateway's settings, or leave them out of the prices.";
    return misconfigured([{ check: gateway, expected, got, remedy }]);
  }
  return { state: "unreachable", message: `${gateway}: ${path} answered ${status}` };
}

export const misconfigured = (problems: readonly ReadinessProblem[]): Readiness => ({
  state: "misconfigured",
  problems,
});
