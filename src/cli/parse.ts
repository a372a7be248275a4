// Arguments to a command and its values. Whatever no command knows is refused with what was probably meant.
import { parseArgs } from "node:util";
import { suggestion } from "../suggestion.js";
import type { Command, OptionSpecs, Written } from "./command.js";
import { usage } from "./io.js";

export type Parsed =
  | {
      readonly kind: "command";
      readonly command: Command;
      readonly written: Written;
      readonly operands: readonly string[];
    }
  /** Help of one command, of the commands that begin with `group`, or of all. */
  | { readonly kind: "help"; readonly command?: Command; readonly group?: string }
  | { readonly kind: "version" };

/** Options that every command has. */
export const COMMON: OptionSpecs = { help: { type: "boolean", description: "Show this help" } };

/**
 * @throws CliError (2) for a command or an option that does not exist, and for one that is given wrongly.
 * @example parseCommandLine(["keys", "create", "--name", "shop"], COMMANDS)
 */
export function parseCommandLine(argv: readonly string[], commands: readonly Command[]): Parsed {
  const asksHelp = argv[0] === "help";
  const words = asksHelp ? argv.slice(1) : argv;
  const [first] = words;
  if (first === "--version" || first === "-v") return { kind: "version" };
  if (first === undefined || first === "--help" || first === "-h") return { kind: "help" };
  const command = findCommand(words, commands);
  if (!command) return groupOf(words, commands);
  const rest = words.slice(command.name.split(" ").length);
  if (asksHelp || rest.some((word) => word === "--help" || word === "-h")) return { kind: "help", command };
  return { kind: "command", command, ...parseRest(rest, command) };
}

const findCommand = (words: readonly string[], commands: readonly Command[]): Command | undefined =>
  commands.find(({ name }) => name.split(" ").every((word, index) => words[index] === word));

/** `tollgate keys` is asked what it can do; `tollgate keys make` is not known. */
function groupOf(words: readonly string[], commands: readonly Command[]): Parsed {
  const [first = "", second] = words;
  const inGroup = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (inGroup.length === 0) {
    const names = [...new Set(commands.map(({ name }) => name.split(" ")[0] ?? ""))];
    throw usage(`There is no command ${show(first)}: ${suggestion(first, names)}`);
  }
  if (second === undefined || second === "--help" || second === "-h") return { kind: "help", group: first };
  const names = inGroup.map(({ name }) => name.slice(first.length + 1));
  throw usage(`There is no command ${show(`${first} ${second}`)}: ${suggestion(second, names)}`);
}

function parseRest(args: readonly string[], command: Command): { written: Written; operands: readonly string[] } {
  const options = { ...COMMON, ...command.options };
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { type, short, multiple = false }]) => [
      name,
      { type, multiple, ...(short !== undefined && { short }) },
    ]),
  );
  const { tokens } = parseArgs({
    args: [...args],
    options: config,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const written: Record<string, string | boolean | string[]> = {};
  const operands: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") operands.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value, inlineValue } = token;
    const spec = Object.hasOwn(options, name) ? options[name] : undefined;
    if (!spec)
      throw usage(`There is no option ${show(rawName)} of ${command.name}: ${suggestOption(rawName, options)}`);
    if (spec.type === "boolean") {
      if (value !== undefined) throw usage(`${rawName} takes no value`);
      written[name] = true;
      continue;
    }
    // Without `=`, what looks like the next option is not meant as a value.
    if (value === undefined || (!inlineValue && /^-./.test(value))) {
      throw usage(`${rawName} needs a value: ${rawName} ${spec.value ?? "VALUE"}`);
    }
    const before = written[name];
    if (before !== undefined && !spec.multiple) throw usage(`${rawName} is given twice: keep one`);
    written[name] = spec.multiple ? [...(Array.isArray(before) ? before : []), value] : value;
  }
  return { written, operands: checkOperands(operands, command) };
}

const suggestOption = (rawName: string, options: OptionSpecs): string =>
  suggestion(
    rawName,
    Object.keys(options).map((name) => `--${name}`),
  );

function checkOperands(operands: readonly string[], { name, operands: expected = [] }: Command): readonly string[] {
  const missing = expected[operands.length];
  if (missing !== undefined && !missing.startsWith("["))
    throw usage(`${name} needs ${missing}: tollgate ${name} ${expected.join(" ")}`);
  // Not shown: what stands in the wrong place may be a key.
  if (operands.length > expected.length) {
    throw usage(`${name} takes ${expected.length === 0 ? "options only" : expected.join(" ")}: leave out what follows`);
  }
  return operands;
}

/** A word as it was written; anything else may be a secret in the wrong place. */
const show = (text: string): string =>
  /^[\w-]{1,30}(?: [\w-]{1,30})?$/.test(text) ? JSON.stringify(text) : "of that name";
