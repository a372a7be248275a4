// Projects of users, built from the packed package: JavaScript and TypeScript, import and require, both ways in which
// TypeScript looks packages up. Each is compiled strictly, with the package's own declarations checked, then started.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createPackedProject, type PackedProject } from "../support/packed.js";
import { runNode, startNode } from "../support/process.js";
import { root } from "../support/sources.js";

/** How a project writes its imports. `as` is the file's ending, which decides what it is to Node. */
const MODULES = {
  "ts import": { as: "mts", take: (names: string, from: string) => `import ${names} from "${from}";` },
  "ts require": {
    as: "cts",
    // A default import of an `import =` is the module itself, and names are taken from it in a second line.
    take: (names: string, from: string) =>
      names.startsWith("{")
        ? `import ${aliasOf(from)} = require("${from}");\nconst ${names} = ${aliasOf(from)};`
        : `import ${names} = require("${from}");`,
  },
  "js import": { as: "mjs", take: (names: string, from: string) => `import ${names} from "${from}";` },
  "js require": { as: "cjs", take: (names: string, from: string) => `const ${names} = require("${from}");` },
};
type ModuleKind = keyof typeof MODULES;

const RESOLUTIONS = {
  node16: { module: "node20", moduleResolution: "node16" },
  bundler: { module: "preserve", moduleResolution: "bundler" },
};

const aliasOf = (from: string) => `all_of_${from.replace(/\W/g, "_")}`;

/** One shop on both frameworks. It compiles only where the types of the payment are what the documents say. */
function shop(kind: ModuleKind): string {
  const { take } = MODULES[kind];
  const typed = kind.startsWith("ts");
  const [text, variables, wrong] = typed
    ? [
        (name: string) => `const ${name}: string | undefined =`,
        `<{ Variables: PaymentVariables }>`,
        "const no: number =",
      ]
    : [(name: string) => `/** @type {string | undefined} */ const ${name} =`, "", "/** @type {number} */ const no ="];
  return `
${take("express", "express")}
${take("{ Hono }", "hono")}
${take("{ serve }", "@hono/node-server")}
${take("{ facilitator, times }", "tollgate")}
${take("{ paywall }", "tollgate/express")}
${take("{ createPaywall }", "tollgate/hono")}
${take("{ redisStore }", "tollgate/store/redis")}
${take("{ sqlStore }", "tollgate/store/sql")}
${typed ? 'import type { PaymentVariables } from "tollgate/hono";' : ""}
for (const store of [redisStore({ url: "redis://h" }), sqlStore({ url: "postgres://h/d" })]) if (!store.shared) throw store;
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const receive = facilitator({ url: "http://127.0.0.1:9", logger: silent });
${typed ? "" : '/** @type {import("tollgate").PaywallOptions} */'}
const options${typed ? ': import("tollgate").PaywallOptions' : ""} = {
  payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", network: "base-sepolia", receive, logger: silent,
};

const app = express();
app.get("/report", paywall(times("$0.01", 2), options), (req, res) => {
  ${text("payer")} req.payment?.payer;
  // @ts-expect-error: it is a text
  ${wrong} req.payment?.payer;
  res.json({ payer, no });
});

${typed ? "" : '/** @type {Hono<{ Variables: import("tollgate/hono").PaymentVariables }>} */'}
const hono = new Hono${variables}();
hono.get("/report", createPaywall(options)("$0.02"), (c) => {
  ${text("payer")} c.get("payment")?.payer;
  // @ts-expect-error: it is a text
  ${wrong} c.get("payment")?.payer;
  return c.json({ payer, no });
});

const server = app.listen(0, "127.0.0.1", () => {
  serve({ fetch: hono.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => {
    const address = server.address();
    console.log(JSON.stringify([typeof address === "object" ? address?.port : undefined, port]));
  });
});
`;
}

let project: PackedProject;
beforeAll(() => {
  project = createPackedProject(["express", "@types/express", "@types/node", "hono", "@hono/node-server"]);
});
afterAll(() => project?.remove());

const all = Object.keys(MODULES).flatMap((kind) =>
  Object.keys(RESOLUTIONS).map((resolution) => [kind, resolution] as [ModuleKind, keyof typeof RESOLUTIONS]),
);

describe("F100: a project with", { timeout: 120_000 }, () => {
  it.each(all)(
    "%s and the resolution %s compiles strictly, starts, and answers 402 on both frameworks",
    async (kind, resolution) => {
      const place = aliasOf(`${kind}_${resolution}`);
      const { as } = MODULES[kind];
      project.write(`${place}/shop.${as}`, shop(kind));
      const compilerOptions = {
        ...RESOLUTIONS[resolution],
        // Hono's own declarations name what browsers have.
        ...{ target: "es2022", lib: ["es2023", "dom"], types: ["node"], outDir: "out", rootDir: "." },
        ...{ strict: true, skipLibCheck: false, allowJs: true, checkJs: true, exactOptionalPropertyTypes: true },
      };
      project.write(`${place}/tsconfig.json`, JSON.stringify({ compilerOptions, files: [`shop.${as}`] }));
      const folder = join(project.folder, place);
      const compiled = await runNode([join(root, "node_modules/typescript/bin/tsc"), "-p", folder]);
      expect(compiled).toMatchObject({ code: 0, stdout: "" });

      const running = await startNode([join(folder, "out", `shop.${as.replace("t", "j")}`)]);
      onTestFinished(running.stop);
      for (const port of JSON.parse(running.firstLine) as number[]) {
        const answer = await fetch(`http://127.0.0.1:${port}/report`);
        expect([answer.status, answer.headers.has("PAYMENT-REQUIRED")]).toEqual([402, true]);
        expect(await answer.json()).toMatchObject({ accepts: [{ maxAmountRequired: "20000" }] });
      }
    },
  );
});
