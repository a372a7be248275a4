// What a schema refuses, in the words of an answer: every problem with its place. Never the refused value, which may be a proof.
import type { z } from "@hono/zod-openapi";
import { nearest } from "../../suggestion.js";
import { type ErrorDetail, type Fault, fault } from "../errors.js";

/** A body of 64 KiB may have thousands of unknown fields. */
const MAX_DETAILS = 50;
const MAX_PATH = 120;
/** So many stand in the sentence; the rest in the details alone. */
const MAX_TOLD = 3;
const UNKNOWN = "unknown field";
/** The place of what is wrong as a whole. */
const ALL = "body";

type Issue = z.core.$ZodIssue;
/** `z` of zod and of zod/mini make the same errors. */
export type SchemaError = Pick<z.core.$ZodError, "issues">;

/** INVALID_REQUEST with every problem. `given`: what the schema was shown, which tells what is missing. */
export function invalidRequest({ issues }: SchemaError, given?: unknown): Fault {
  const found = issues.flatMap((issue) => detailsOf(issue, []));
  const isUnfilled = ({ path, message }: ErrorDetail) => message !== UNKNOWN && path !== ALL && isMissing(given, path);
  const missing = found.filter(isUnfilled).map(({ path }) => path);
  const details = found.slice(0, MAX_DETAILS).map(({ path, message }): ErrorDetail => {
    if (message !== UNKNOWN && missing.includes(path)) return { path, message: `is missing: ${message}` };
    return message === UNKNOWN ? { path, message: `${message}${meantField(path, missing)}` } : { path, message };
  });
  const told = details.slice(0, MAX_TOLD).map(({ path, message }) => `${path}: ${message}`);
  const more = details.length > MAX_TOLD ? ` (and ${details.length - MAX_TOLD} more)` : "";
  return fault("INVALID_REQUEST", told.length > 0 ? `${told.join("; ")}${more}` : "the request is invalid", {
    details,
  });
}

/** Is nothing there? Own properties only, and nothing is said of what the whole body was. */
function isMissing(given: unknown, path: string): boolean {
  let value = given;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null) return false;
    if (!Object.hasOwn(value, name)) return true;
    value = Reflect.get(value, name);
  }
  return false;
}

/** A field that is missing beside an unknown one, where they may well be the same: `recipient` for `recipientAddress`. */
function meantField(path: string, missing: readonly string[]): string {
  const lower = path.toLowerCase();
  const begun = missing.find((field) => field.toLowerCase().startsWith(lower));
  const meant = begun ?? nearest(path, missing);
  return meant === undefined ? "" : `: did you mean ${meant}?`;
}

function detailsOf(issue: Issue, parent: readonly PropertyKey[]): ErrorDetail[] {
  const path = [...parent, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: placeOf([...path, key]), message: UNKNOWN }));
  }
  if (issue.code === "invalid_union") {
    const meant = meantBranch(issue.errors);
    if (meant) return meant.flatMap((inner) => detailsOf(inner, path));
  }
  return [{ path: placeOf(path), message: messageOf(issue) }];
}

/** The form that was meant: the one whose own type, version or tag fits, as far as exactly one does. */
function meantBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const fits = branches.filter((issues) => !issues.some(isAnotherForm));
  return fits.length === 1 ? fits[0] : undefined;
}

const isAnotherForm = ({ code, path }: Issue): boolean =>
  (code === "invalid_type" && path.length === 0) || (code === "invalid_value" && path.length <= 1);

/** zod's own words name the type that came; ours only what was expected. */
function messageOf(issue: Issue): string {
  if (issue.code !== "invalid_type" || !issue.message.startsWith("Invalid input: expected")) return issue.message;
  return `expected ${ARTICLES[issue.expected] ?? issue.expected}`;
}

const ARTICLES: Readonly<Record<string, string>> = {
  object: "an object",
  record: "an object",
  array: "a list",
  string: "text",
  number: "a number",
  boolean: "true or false",
};

const placeOf = (path: readonly PropertyKey[]): string => path.map(String).join(".").slice(0, MAX_PATH) || ALL;
