// Answers of the dashboard: a page, and a problem in the same look.
import { html } from "hono/html";
import { type Html, type PageFacts, renderPage } from "./layout.js";
import type { Place } from "./place.js";
import type { DashboardContext, Session } from "./session.js";

type Status = 200 | 400 | 403 | 404 | 413 | 421 | 429 | 500;

export async function answerPage(
  c: DashboardContext,
  place: Place,
  { status = 200, ...facts }: Omit<PageFacts, "place" | "session"> & { readonly status?: Status },
  content: Html,
): Promise<Response> {
  return c.html(await renderPage({ place, session: c.get("session"), ...facts }, content), status);
}

export const answerProblem = (c: DashboardContext, place: Place, status: Status, problem: string): Promise<Response> =>
  answerPage(
    c,
    place,
    { title: "That did not work", status },
    html`<p role="alert">${problem}</p><p><a href="${place.base}">To the overview</a></p>`,
  );

/** @throws Error where nobody is signed in, which the dashboard's own order rules out. */
export function sessionOf(c: DashboardContext): Session {
  const session = c.get("session");
  if (!session) throw new Error("nobody is signed in");
  return session;
}
