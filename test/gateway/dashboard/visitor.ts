// Somebody with a browser, without one: keeps the cookie, sends forms as a page of the gateway would, or as another site does.
import { createLink } from "../../../src/gateway/dashboard/link.js";
import type { GatewayWorld } from "../world.js";

export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** What its forms repeat. */
  readonly form: string;
}

export interface Visitor {
  get(path: string, headers?: Record<string, string>): Promise<Page>;
  post(
    path: string,
    fields: Record<string, string | readonly string[]>,
    headers?: Record<string, string>,
  ): Promise<Page>;
  /** By a new link of this account. */
  signIn(account: string): Promise<Page>;
  /** As the header has it. */
  cookie: string | undefined;
}

export const linkFor = (
  world: GatewayWorld,
  account: string,
  url = world.gateway.settings.publicUrl ?? "http://127.0.0.1:4020",
) => createLink(world.gateway.database, account, url);

export const tokenOf = (link: string): string => link.split("#")[1] ?? "";

export function createVisitor({ url, ...world }: GatewayWorld): Visitor {
  const ask = async (path: string, init: RequestInit): Promise<Page> => {
    const headers = new Headers(init.headers);
    if (visitor.cookie !== undefined) headers.set("cookie", visitor.cookie);
    const answer = await fetch(`${url}/dashboard${path}`, { ...init, headers, redirect: "manual" });
    for (const set of answer.headers.getSetCookie()) {
      const [name = "", value = ""] = (set.split(";")[0] ?? "").split("=");
      if (/Max-Age=0/i.test(set)) jar.delete(name);
      else jar.set(name, value);
    }
    const text = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      form: /name="form" value="([^"]*)"/.exec(text)?.[1] ?? "",
    };
  };
  const jar = new Map<string, string>();
  const visitor: Visitor = {
    get cookie() {
      return jar.size === 0 ? undefined : [...jar].map((pair) => pair.join("=")).join("; ");
    },
    set cookie(header) {
      jar.clear();
      for (const pair of header?.split("; ") ?? []) jar.set(pair.split("=")[0] ?? "", pair.split("=")[1] ?? "");
    },
    get: (path, headers = {}) => ask(path, { headers }),
    post(path, fields, headers = {}) {
      const body = new URLSearchParams();
      for (const [name, values] of Object.entries(fields))
        for (const value of [values].flat()) body.append(name, value);
      return ask(path, { method: "POST", body, headers: { origin: new URL(url).origin, ...headers } });
    },
    signIn: async (account) => visitor.post("/login", { token: tokenOf(await linkFor({ url, ...world }, account)) }),
  };
  return visitor;
}
