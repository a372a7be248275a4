// Writes docs/errors.md from the compiled error table, and the tables of docs/gateway.md and docs/buying.md from the compiled
// gateway and buyer, so that the documentation cannot drift from the code. `node scripts/build-docs.mjs` writes, `--check` exits 1 when a file is not what the
// code says. Needs a build.
import { readFileSync, writeFileSync } from "node:fs";

const { ERRORS } = await import("../dist/src/errors.js");
const { BUYER_ERRORS } = await import("../dist/src/client/errors.js");
const gatewayTables = await import("./gateway-tables.mjs");
const cliTables = await import("./cli-tables.mjs");

const retryMeaning = {
  "same-payment": "send the same payment again",
  "new-payment": "sign a new payment",
  later: "try again later",
  never: "do not repeat this request",
};
const moneyMeaning = {
  none: "nothing was taken",
  unknown: "it may have been taken",
  settled: "it was taken, once",
};

const head = `# Error codes

<!-- Written by \`npm run docs\` from src/error-table.ts. Do not edit by hand. -->

Every refusal is JSON with these members beside the protocol's own (\`x402Version\`, \`error\`, \`accepts\`):

| member | means |
|---|---|
| \`code\` | one of the codes below: stable, meant for programs |
| \`message\` | what was wrong and what to do, for people |
| \`expected\`, \`got\` | the two values that did not fit, where there are two |
| \`retry\` | what to do next: \`same-payment\`, \`new-payment\`, \`later\`, \`never\` |
| \`payment\` | whether money moved: \`none\`, \`unknown\`, \`settled\`; an answer may know more than the list, which says what is usual |
| \`error\` | the protocol's reason word, as x402 clients read it |
| \`docs\` | where the code stands in this list: a path in the package \`tollgate\` |

`;

const rows = Object.entries(ERRORS).map(([code, row]) =>
  [
    "",
    ` <a id="${code}"></a>\`${code}\` `,
    ` ${row.status} `,
    ` ${row.title} `,
    ` ${retryMeaning[row.retry]} (\`${row.retry}\`) `,
    ` ${moneyMeaning[row.payment]} (\`${row.payment}\`) `,
    ` \`${row.reason}\` `,
    "",
  ].join("|"),
);
const text = `${head}| code | status | what it says | next | money | \`error\` |\n|---|---|---|---|---|---|\n${rows.join("\n")}\n`;

const buyerErrors = () =>
  [
    "| `code` | what it says | `money` | what to do |",
    "|---|---|---|---|",
    ...Object.entries(BUYER_ERRORS).map(
      ([code, { title, money, remedy }]) => `| \`${code}\` | ${title} | \`${money}\` | ${remedy} |`,
    ),
  ].join("\n");

/** What stands between two marks is written; the text around it is by hand. */
const MARKS = /(<!-- begin ([a-z-]+), written by `npm run docs` -->\n)[\s\S]*?(<!-- end \2 -->)/g;
const TABLES = {
  "gateway.md": {
    endpoints: gatewayTables.endpoints,
    errors: gatewayTables.errors,
    "error-shape": gatewayTables.errorShape,
    operator: gatewayTables.operator,
    commands: gatewayTables.commands,
  },
  "buying.md": { errors: buyerErrors },
  "cli.md": cliTables.TABLES,
};

function fill(name, written) {
  const tables = TABLES[name];
  const left = new Set(Object.keys(tables));
  const filled = written.replace(MARKS, (_all, begin, table, end) => {
    if (!left.delete(table)) throw new Error(`docs/${name} has marks for ${table}, which are not to be there`);
    return `${begin}\n${tables[table]()}\n\n${end}`;
  });
  if (left.size > 0) throw new Error(`docs/${name} has no marks for ${[...left].join(", ")}`);
  return filled;
}

const at = (name) => new URL(`../docs/${name}`, import.meta.url);
const files = [
  ["errors.md", () => text, "src/error-table.ts says"],
  ["gateway.md", (written) => fill("gateway.md", written), "the gateway's schemas, errors and commands say"],
  ["buying.md", (written) => fill("buying.md", written), "src/client/errors.ts says"],
  ["cli.md", (written) => fill("cli.md", written), "the commands say"],
];
for (const [name, make, source] of files) {
  const present = readFileSync(at(name), "utf8");
  const current = make(present);
  if (present === current) continue;
  if (!process.argv.includes("--check")) writeFileSync(at(name), current);
  else {
    console.error(`docs/${name} is not what ${source}: run \`npm run docs\`.`);
    process.exitCode = 1;
  }
}
