// The options of the gateway's clients: every problem in one PaywallConfigError. No message holds a key, a token or a URL.
import * as z from "zod/mini";
import { createProblems } from "../config-problems.js";
import { reportIssues, whole, wrong } from "../config-schema.js";
import { API_KEY, isBaseUrl } from "../receive/hosted-options.js";
import { urlProblem } from "../receive/option-words.js";
import { isLoopback } from "./place.js";

const baseUrl = z.custom<string>((value) => typeof value === "string" && isBaseUrl(value), {
  error: ({ input }) => urlProblem(input, "the gateway, without credentials, query or fragment", "https://pay.example"),
});
const common = {
  /** Of the gateway, https or on this machine. */
  baseUrl,
  /** Takes http to other machines too: whoever is on the way there reads the key. */
  allowHttp: z.optional(z.boolean("expected true or false")),
  /** In place of the runtime's own. */
  fetch: z.optional(
    z.custom<typeof globalThis.fetch>((value) => typeof value === "function", wrong("expected a function like fetch")),
  ),
  /** Milliseconds for one attempt, 60,000. */
  timeoutMs: z.optional(whole(100, 600_000, "whole milliseconds")),
  /** How often a call is repeated that did not come to its answer, 3. */
  retries: z.optional(whole(0, 10)),
  /** Milliseconds for a call with all its repeats and the pauses between them, 120,000. */
  totalMs: z.optional(whole(100, 3_600_000, "whole milliseconds")),
};

/** What came, without its text: it may be a secret. */
const hidden =
  (expected: string) =>
  ({ input }: { readonly input?: unknown }): string => {
    const got = input === undefined ? "nothing" : input === "" ? "an empty text" : "something else (not shown)";
    return `${expected}; got ${got}`;
  };

export const clientSchema = z.strictObject({
  ...common,
  apiKey: z.custom<string>((value) => typeof value === "string" && API_KEY.test(value), {
    error: hidden("expected a key of the gateway: tg_live_… or tg_test_…"),
  }),
});
export const operatorSchema = z.strictObject({
  ...common,
  token: z.custom<string>((value) => typeof value === "string" && /^[\x21-\x7e]{1,512}$/.test(value), {
    error: hidden("expected the gateway's TOLLGATE_ADMIN_TOKEN"),
  }),
});

type Common = Pick<z.infer<typeof clientSchema>, keyof typeof common>;

/** What every call goes by. */
export interface ClientSettings {
  /** Without a slash at its end. */
  readonly base: string;
  /** The API key, or the operator's token. */
  readonly secret: string;
  readonly fetch: typeof globalThis.fetch | undefined;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly totalMs: number;
}

/** Reads the options by a schema. `of`: how the function is called whose options they are. */
export function readOptions<Schema extends typeof clientSchema | typeof operatorSchema>(
  schema: Schema,
  input: unknown,
  of: "gatewayClient" | "operatorClient",
): z.output<Schema> {
  const problems = createProblems("gateway client");
  const parsed = schema.safeParse(input);
  const pathOf = (path: readonly PropertyKey[]) => [of, ...path.map(String)].join(".");
  if (!parsed.success) {
    reportIssues(parsed.error.issues, input, { pathOf, known: () => Object.keys(schema.shape) }, problems);
  } else if (!isSafe(parsed.data)) {
    const message = "expected https, because the key goes along; http only on this machine, or with allowHttp: true";
    problems.add(pathOf(["baseUrl"]), "unsafe", message);
  }
  problems.throwIfAny();
  return parsed.data as z.output<Schema>;
}

export const settingsOf = (
  { baseUrl, fetch, timeoutMs = 60_000, retries = 3, totalMs = 120_000 }: Common,
  secret: string,
): ClientSettings => ({ base: new URL(baseUrl).href.replace(/\/+$/, ""), secret, fetch, timeoutMs, retries, totalMs });

/** Invariant: the key leaves this machine encrypted, or because its owner has said otherwise. */
function isSafe({ baseUrl, allowHttp }: Common): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === "https:" || allowHttp === true || isLoopback(hostname);
}
