// Help, made of the commands themselves.
import type { Command, OptionSpecs } from "./command.js";
import { COMMON } from "./parse.js";
import { columns } from "./print.js";

const EXIT_CODES = [
  ["0", "done"],
  ["1", "it failed"],
  ["2", "the command line or the configuration is wrong; nothing was done"],
] as const;

/** All commands, or those of one group. */
export function formatOverview(commands: readonly Command[], group?: string): string {
  const shown = group === undefined ? commands : commands.filter(({ name }) => name.startsWith(`${group} `));
  return [
    `Usage: tollgate ${group ?? "COMMAND"}${group === undefined ? "" : " COMMAND"} [options]`,
    "",
    "Commands:",
    ...indent(columns(shown.map(({ name, summary }) => [name, summary]))),
    "",
    "Options:",
    ...indent(
      columns([
        ["--help", "Show help, also of one command"],
        ["--version", "Show the version"],
      ]),
    ),
    "",
    "Settings come from options, then from the environment (TOLLGATE_…, DATABASE_URL, REDIS_URL), then from the file of",
    "--config. Lists are tables on a terminal and JSON in a pipe. NO_COLOR is respected.",
    "",
    "Exit codes:",
    ...indent(columns(EXIT_CODES)),
    "",
  ].join("\n");
}

/** One command: how it is called, what it does, its options, examples. */
export function formatHelp(command: Command): string {
  const { name, summary, operands = [], details = [], options, examples = [], exitCodes = [] } = command;
  const sections = [
    [`Usage: tollgate ${[name, ...operands].join(" ")} [options]`],
    [summary, ...details],
    ["Options:", ...indent(columns(optionRows({ ...options, ...COMMON })))],
    ...(examples.length > 0 ? [["Examples:", ...indent(examples)]] : []),
    ...(exitCodes.length > 0 ? [["Exit codes:", ...indent(columns(exitCodes))]] : []),
  ];
  return `${sections.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function optionRows(options: OptionSpecs): [string, string][] {
  return Object.entries(options).map(([name, { type, short, value = "VALUE", multiple, description, env }]) => {
    const names = short === undefined ? `--${name}` : `-${short}, --${name}`;
    const form = type === "boolean" ? names : `${names} ${value}`;
    const notes = [...(multiple ? ["may be repeated"] : []), ...(env === undefined ? [] : [env])];
    return [form, notes.length > 0 ? `${description} (${notes.join("; ")})` : description];
  });
}

const indent = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);
