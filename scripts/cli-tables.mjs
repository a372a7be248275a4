// The tables of docs/cli.md, made of the commands themselves. Needs a build.
import { COMMANDS } from "../dist/src/cli/commands.js";

const NAMES = ["pay", "explain", "doctor"];

const table = (head, rows) =>
  [
    `| ${head.join(" | ")} |`,
    `|${"---|".repeat(head.length)}`,
    ...rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`),
  ].join("\n");

const optionsOf = ({ options }) =>
  table(
    ["option", "does"],
    Object.entries(options).map(([name, { type, short, value = "VALUE", multiple, description }]) => {
      const written = `${short ? `-${short}, ` : ""}--${name}${type === "boolean" ? "" : ` ${value}`}`;
      return [`\`${written}\``, `${description}${multiple ? "; may be repeated" : ""}`];
    }),
  );

const exitCodesOf = ({ exitCodes = [] }) =>
  table(
    ["exit code", "means"],
    exitCodes.map((row) => [...row]),
  );

/** By the names of their marks: `pay-options`, `pay-exit-codes`. */
export const TABLES = Object.fromEntries(
  NAMES.flatMap((name) => {
    const command = COMMANDS.find((one) => one.name === name);
    return [
      [`${name}-options`, () => optionsOf(command)],
      [`${name}-exit-codes`, () => exitCodesOf(command)],
    ];
  }),
);
