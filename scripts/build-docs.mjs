// Writes docs/errors.md from the compiled error table, and the tables of docs/gateway.md from the compiled gateway, so that the
// documentation cannot drift from the code. `node scripts/build-docs.mjs` writes, `--check` exits 1 when a file is not what the
// code says. Needs a build.
import { readFileSync, writeFileSync } from "node:fs";

const { ERRORS } = await import("../dist/src/errors.js");
const gatewayTables = await import("./gateway-tables.mjs");

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
| \`payment\` | whether money moved: \`none\`, \`unknown\`, \`settled\` |
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

/** What stands between two marks is written; the text around it is by hand. */
const MARKS = /(<!-- begin ([a-z-]+), written by `npm run docs` -->\n)[\s\S]*?(<!-- end \2 -->)/g;
const TABLES = {
  endpoints: gatewayTables.endpoints,
  errors: gatewayTables.errors,
  "error-shape": gatewayTables.errorShape,
  operator: gatewayTables.operator,
  commands: gatewayTables.commands,
};

function fill(written) {
  const left = new Set(Object.keys(TABLES));
  const filled = written.replace(MARKS, (_all, begin, name, end) => {
    if (!left.delete(name)) throw new Error(`docs/gateway.md has marks for ${name}, which are not to be there`);
    return `${begin}\n${TABLES[name]()}\n\n${end}`;
  });
  if (left.size > 0) throw new Error(`docs/gateway.md has no marks for ${[...left].join(", ")}`);
  return filled;
}

const at = (name) => new URL(`../docs/${name}`, import.meta.url);
const gateway = readFileSync(at("gateway.md"), "utf8");
const files = [
  ["errors.md", readFileSync(at("errors.md"), "utf8"), text, "src/error-table.ts says"],
  ["gateway.md", gateway, fill(gateway), "the gateway's schemas, errors and commands say"],
];
for (const [name, present, current, source] of files) {
  if (present === current) continue;
  if (!process.argv.includes("--check")) writeFileSync(at(name), current);
  else {
    console.error(`docs/${name} is not what ${source}: run \`npm run docs\`.`);
    process.exitCode = 1;
  }
}
