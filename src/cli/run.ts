// The command line: arguments in, exit code out. What it is refused for is one sentence on standard error.
import { existsSync, readFileSync } from "node:fs";
import { PaywallConfigError } from "../errors.js";
import { hideKeys } from "../secret.js";
import { COMMANDS } from "./commands.js";
import { formatHelp, formatOverview } from "./help.js";
import { CliError, type ExitCode, type Io } from "./io.js";
import { parseCommandLine } from "./parse.js";
import { printable } from "./print.js";
import { toCliError } from "./settings.js";
import { wordsOf } from "./words-of.js";

/**
 * Runs one command to its end.
 *
 * @example process.exitCode = await runCli(process.argv.slice(2), processIo());
 */
export async function runCli(argv: readonly string[], io: Io): Promise<ExitCode> {
  try {
    const parsed = parseCommandLine(argv, COMMANDS);
    if (parsed.kind === "version") io.stdout.write(`${readVersion()}\n`);
    else if (parsed.kind === "command") await parsed.command.run(parsed.written, io, parsed.operands);
    else io.stdout.write(parsed.command ? formatHelp(parsed.command) : formatOverview(COMMANDS, parsed.group));
    return 0;
  } catch (error) {
    const told = error instanceof PaywallConfigError ? toCliError(error) : error;
    // Problems stand on lines of their own; everything else that a terminal would obey may be somebody else's.
    const lines = hideKeys(wordsOf(told)).split("\n").map(printable);
    io.stderr.write(`${lines.join("\n")}\n`);
    return told instanceof CliError ? told.code : 1;
  }
}

/** Of the package that this file is part of: the nearest one above it, built or not. */
function readVersion(): string {
  for (let place = new URL(".", import.meta.url); ; place = new URL("..", place)) {
    const file = new URL("package.json", place);
    if (existsSync(file)) {
      const { name, version } = JSON.parse(readFileSync(file, "utf8")) as { name?: unknown; version?: unknown };
      if (name === "tollgate" && typeof version === "string") return version;
    }
    if (new URL("..", place).href === place.href) throw new Error("The package's own package.json is missing");
  }
}
