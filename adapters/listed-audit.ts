// The audit where no framework knows the routes: a plain server tells which ones it answers.
import { PaywallConfigError } from "../src/errors.js";
import type { PaywallCore } from "../src/paywall.js";
import { type AuditedRoute, type AuditReport, report } from "./audit.js";

/** The routes a server answers: `"GET /weather"`, `"/files/*"`, `":name"` for one segment. */
export type RouteList = readonly string[];

/** Reports each listed route with the price that the table asks for it, and every table key that no route answers. */
export function auditListed(core: Pick<PaywallCore, "auditEntries" | "samplePath">, routes: RouteList): AuditReport {
  return report(core, routes.map(toRoute), false);
}

function toRoute(text: string, index: number): AuditedRoute {
  const [, method, path] = /^(?:([A-Z]+) +)?(\/\S*)$/.exec(text) ?? [];
  if (path === undefined) {
    const message = `${JSON.stringify(text)} is no route: write "GET /path" or "/path"`;
    throw new PaywallConfigError([{ path: `routes.${index}`, code: "invalid", message }]);
  }
  return { method, path, handlers: [], answers: (sample) => matchesPattern(path, sample), behind: () => true };
}

/** Segment by segment: `:name` is any one, `*` at the end is any rest, none included. */
export function matchesPattern(pattern: string, path: string): boolean {
  const [wanted, got] = [pattern.split("/"), path.split("/")];
  const open = wanted.at(-1) === "*";
  if (open) wanted.pop();
  if (open ? got.length < wanted.length : got.length !== wanted.length) return false;
  return wanted.every((part, at) => part === got[at] || (part.startsWith(":") && got[at] !== ""));
}
