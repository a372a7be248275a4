// The API as a page to read: made of the OpenAPI document alone, without a script and without a request to anywhere.
import { createHash } from "node:crypto";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { html, raw } from "hono/html";
import { GATEWAY_ERRORS } from "../errors.js";
import type { GatewayEnv } from "./context.js";

type Document = ReturnType<OpenAPIHono<GatewayEnv>["getOpenAPI31Document"]>;
type Operation = NonNullable<NonNullable<Document["paths"]>[string]["get"]>;
/** Texts that are escaped where they are put into the page. */
type Html = ReturnType<typeof html>;

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; color: #1a1a1a; background: #fff }
pre { background: #f4f4f5; padding: .75rem; overflow-x: auto; border-radius: .25rem }
code { font: .9em ui-monospace, monospace }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .25rem .5rem; border-bottom: 1px solid #ddd; vertical-align: top }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #161618 } pre { background: #222226 } td, th { border-color: #444 } }
`;

/** Permits the one style of the page, and nothing else at all. */
export const DOCS_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export function renderDocs(document: Document): Html {
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    (["get", "post"] as const).flatMap((method) => {
      const operation = item[method];
      return operation ? [section(`${method.toUpperCase()} ${path}`, operation)] : [];
    }),
  );
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${document.info.title}</title>
        <style>${raw(STYLE)}</style>
      </head>
      <body>
        <h1>${document.info.title}</h1>
        <p>${document.info.description}</p>
        <p>The same as <a href="openapi.json">OpenAPI</a>. Keys are secret and for servers only: <code>Authorization: Bearer tg_…</code></p>
        ${operations}
        <h2>Errors</h2>
        ${errors()}
      </body>
    </html>`;
}

function section(title: string, operation: Operation): Html {
  const parameters = (operation.parameters ?? []).flatMap((one) => ("name" in one ? [one] : []));
  const body = operation.requestBody && "content" in operation.requestBody ? operation.requestBody.content : {};
  const request = body["application/json"]?.example as unknown;
  const answer = exampleOf(operation.responses?.["200"]);
  return html`<section>
    <h2><code>${title}</code></h2>
    <p>${operation.summary}. ${operation.description}</p>
    ${parameters.map((one) => html`<p><code>${one.name}</code> (${one.in}) ${one.description}</p>`)}
    ${request === undefined ? "" : html`<h3>Request</h3><pre><code>${pretty(request)}</code></pre>`}
    ${answer === undefined ? "" : html`<h3>Answer</h3><pre><code>${pretty(answer)}</code></pre>`}
    <p>${Object.keys(operation.responses ?? {}).join(", ")}</p>
  </section>`;
}

function exampleOf(response: unknown): unknown {
  const content: unknown = member(response, "content");
  return member(member(content, "application/json"), "example");
}

const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

const pretty = (value: unknown): string => JSON.stringify(value, null, 2) ?? "";

const errors = (): Html => html`<table>
  <tr><th>Code</th><th>Status</th><th>When</th><th>What to do</th></tr>
  ${Object.entries(GATEWAY_ERRORS).map(
    ([code, { status, when, action }]) =>
      html`<tr><td><code>${code}</code></td><td>${status}</td><td>${when}</td><td>${action}</td></tr>`,
  )}
</table>`;
