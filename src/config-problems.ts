// Gathers everything that is wrong with a configuration, so that one error names all of it, and words it without ever
// repeating a secret.
import { type ConfigCode, type ConfigProblem, PaywallConfigError } from "./errors.js";
import { mayBeSecret, NOT_SHOWN } from "./secret.js";

/** The problems of one configuration, in the order in which they were found. */
export interface Problems {
  add(path: string, code: ConfigCode, message: string): void;
  /** Takes over what another part of the configuration refused, under a path of our own. */
  adopt(path: string, error: PaywallConfigError): void;
  readonly count: number;
  /** @throws PaywallConfigError when there is at least one problem. */
  throwIfAny(): void;
}

/** An empty list. `of`: whose configuration it is. */
export function createProblems(of?: string): Problems {
  const found: ConfigProblem[] = [];
  return {
    add: (path, code, message) => void found.push({ path, code, message }),
    adopt: (path, error) => {
      for (const { code, message } of error.problems) found.push({ path, code, message });
    },
    get count() {
      return found.length;
    },
    throwIfAny() {
      if (found.length > 0) throw new PaywallConfigError(found, of);
    },
  };
}

/**
 * A path as a person would write it in code.
 *
 * @example optionPath("", ["routes", "GET /a", "networks", 1]) // 'routes["GET /a"].networks[1]'
 */
export function optionPath(base: string, keys: readonly PropertyKey[]): string {
  return keys.reduce<string>((path, key) => {
    if (typeof key === "number") return `${path}[${key}]`;
    const name = mayBeSecret(String(key)) ? "(not shown)" : String(key);
    if (!/^[A-Za-z_$][\w$]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
    return path === "" ? name : `${path}.${name}`;
  }, base);
}

/** What came, for a message: short, on one line, and without anything that may be a key or a password. */
export function show(value: unknown): string {
  if (typeof value === "string") return showText(value);
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

function showText(text: string): string {
  if (mayBeSecret(text)) return NOT_SHOWN;
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
