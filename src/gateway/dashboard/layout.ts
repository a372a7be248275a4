// One page of the dashboard: landmarks, the links between the pages, and the one style and script, named by what is in them.
import { createHash } from "node:crypto";
import { html } from "hono/html";
import type { Place } from "./place.js";
import { DASHBOARD_SCRIPT } from "./script.artifact.js";
import type { Session } from "./session.js";
import { STYLE } from "./style.js";

/** Texts that are escaped where they are put into the page. */
export type Html = ReturnType<typeof html>;

/** Nothing but what the gateway itself serves; no page of another site may frame it or be sent a form. */
export const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const named = (text: string, ending: string) =>
  `${createHash("sha256").update(text).digest("hex").slice(0, 16)}.${ending}`;
const STYLE_FILE = named(STYLE, "css");
const SCRIPT_FILE = named(DASHBOARD_SCRIPT, "js");

/** What stands under `assets/`, by name. */
export const ASSETS: ReadonlyMap<string, { readonly text: string; readonly type: string }> = new Map([
  [STYLE_FILE, { text: STYLE, type: "text/css; charset=utf-8" }],
  [SCRIPT_FILE, { text: DASHBOARD_SCRIPT, type: "text/javascript; charset=utf-8" }],
]);

const PAGES = [
  ["", "Overview"],
  ["/payments", "Payments"],
  ["/keys", "API keys"],
  ["/wallets", "Wallets"],
  ["/account", "Account"],
] as const;

export interface PageFacts {
  readonly place: Place;
  readonly title: string;
  /** Absent where nobody is signed in. */
  readonly session?: Session | undefined;
  /** The path behind the dashboard's own. */
  readonly at?: string;
}

export function renderPage({ place: { base }, title, session, at }: PageFacts, content: Html | readonly Html[]): Html {
  const link = ([path, name]: readonly [string, string]) =>
    at === path
      ? html`<a href="${base}${path}" aria-current="page">${name}</a>`
      : html`<a href="${base}${path}">${name}</a>`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · tollgate</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${base}/assets/${STYLE_FILE}" />
        <script type="module" src="${base}/assets/${SCRIPT_FILE}"></script>
      </head>
      <body>
        <a class="skip" href="#content">To the content</a>
        <header><b>tollgate</b>${session ? html`<nav aria-label="Pages">${PAGES.map(link)}</nav><span class="soft">${session.account.name}</span>` : ""}</header>
        <main id="content"><h1>${title}</h1>${content}</main>
        <footer>All times are UTC.</footer>
      </body>
    </html>`;
}

/** A form that does something: only of this session, and not from elsewhere. */
export const actionForm = (
  { base }: Place,
  { formToken }: Session,
  path: string,
  fields: Html | readonly Html[],
): Html =>
  html`<form method="post" action="${base}${path}"><input type="hidden" name="form" value="${formToken}" />${fields}</form>`;
