// Words for what a schema refuses: place and expectation, never the refused value, which may be a signature.
import type * as z from "zod/mini";

/** The first issue as `authorization.value: expected string`. */
export function describeIssue(error: z.core.$ZodError): string {
  const issue = error.issues[0];
  if (!issue) return "does not fit the schema";
  const place = issue.path.map(String).join(".");
  return place ? `${place}: ${issueText(issue)}` : issueText(issue);
}

/** What was expected, without the place. */
export function issueText(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `expected ${issue.expected === "record" ? "object" : issue.expected}`;
    case "invalid_value":
      return `expected ${issue.values.map(String).join(" or ")}`;
    default:
      return issue.message;
  }
}
