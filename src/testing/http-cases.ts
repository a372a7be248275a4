// The cases that every framework has to pass, over sockets and on a real chain: one list, so that a further adapter is one
// file that says how to start a server, and a green run.
import type { HttpCase } from "./http/case.js";
import { CONNECTION_CASES } from "./http/connection-cases.js";
import { FAILURE_CASES } from "./http/failure-cases.js";
import { PAGE_CASES } from "./http/page-cases.js";
import { PAID_CASES } from "./http/paid-cases.js";
import { PASS_CASES } from "./http/pass-cases.js";
import { STREAM_CASES } from "./http/stream-cases.js";
import { UNPAID_CASES } from "./http/unpaid-cases.js";

export type { HttpCase } from "./http/case.js";
export type {
  Ability,
  HttpFramework,
  Reply,
  RunningSite,
  Site,
  SiteHandler,
  SiteRoute,
  SiteRun,
  SiteSettings,
} from "./http/framework.js";

/**
 * Each runs by itself: `await httpCase.run(framework, sandbox)` rejects with what was expected and what came. A case whose
 * `needs` the framework `lacks` is to be left out.
 *
 * @example
 * for (const { name, needs, run } of httpCases)
 *   it.skipIf(needs && framework.lacks?.includes(needs))(name, () => run(framework, sandbox));
 */
export const httpCases: readonly HttpCase[] = [
  ...UNPAID_CASES,
  ...PAID_CASES,
  ...PASS_CASES,
  ...PAGE_CASES,
  ...STREAM_CASES,
  ...FAILURE_CASES,
  ...CONNECTION_CASES,
];
