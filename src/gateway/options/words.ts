// What each setting must be, and how strong a secret must be. No sentence holds a secret or a URL that may carry one.
import { show } from "../../config-problems.js";
import { NOT_SHOWN } from "../../secret.js";

/** A sentence for a value that was refused and may be a secret, or hold one. */
export const wrongSecret = (expected: string) => ({
  error: ({ input }: { readonly input?: unknown }): string =>
    `${expected}; got ${typeof input === "string" ? NOT_SHOWN : show(input)}`,
});

const LEAST_TOKEN = 32;
const LEAST_SIGNS = 8;
/** Words that people put where a secret belongs; whoever guesses begins with them. */
const WELL_KNOWN =
  /change[-_ ]?me|changeit|secret|password|passwd|passphrase|example|default|tollgate|gateway|admin|operator|metrics|token|your|test|demo|dummy|placeholder|qwerty|letmein|0123456789|123456789|abcdefghijklmnop/gi;

/**
 * Why a bearer token of the operator is too weak; undefined = it will do. What is well known in it counts for nothing.
 * Source: faults A42.
 */
export function tokenProblem(token: string): string | undefined {
  const advice = "make one with: openssl rand -hex 32";
  if (/[^\x21-\x7e]/.test(token)) return `expected visible ASCII without spaces (not shown): ${advice}`;
  const bare = token.replace(WELL_KNOWN, "");
  if (bare.length < LEAST_TOKEN) {
    const got = token.length < LEAST_TOKEN ? `got ${token.length}` : "got well-known words";
    return `expected at least ${LEAST_TOKEN} characters that nobody guesses, ${got} (not shown): ${advice}`;
  }
  const signs = new Set(bare).size;
  return signs < LEAST_SIGNS ? `it repeats ${signs} signs only (not shown): ${advice}` : undefined;
}
