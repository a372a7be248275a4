// Writes docs/errors.md from the compiled error table, so that the documentation cannot drift from the code.
// `node scripts/build-docs.mjs` writes, `--check` exits 1 when the file is not what the table says. Needs a build.
import { readFileSync, writeFileSync } from "node:fs";

const { ERRORS } = await import("../dist/src/errors.js");

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

const file = new URL("../docs/errors.md", import.meta.url);
if (process.argv.includes("--check")) {
  if (readFileSync(file, "utf8") !== text) {
    console.error("docs/errors.md is not what src/error-table.ts says: run `npm run docs`.");
    process.exitCode = 1;
  }
} else {
  writeFileSync(file, text);
}
