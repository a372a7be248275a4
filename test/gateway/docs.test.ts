// docs/gateway.md says what the gateway does, and nothing beside it: every endpoint, field, bound, default and code of the
// OpenAPI document, every path of the running app, every setting, code, plan, scope and command. Both ways: what is missing and
// what is too much make it red.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/commands.js";
import { SCOPES } from "../../src/gateway/caller.js";
import { GATEWAY_ERRORS } from "../../src/gateway/errors.js";
import { BUILT_IN_PLANS } from "../../src/gateway/options/plans.js";
import { evmNetworkSchema, gatewaySchema, solanaNetworkSchema } from "../../src/gateway/options/schema.js";
import { readGatewayOptions } from "../../src/gateway/options.js";
import { PAYMENT_STATUSES } from "../../src/gateway/payment.js";
import type { Json } from "./call.js";
import {
  type DocumentedEndpoint,
  documentedEndpoints,
  gatewayDocument,
  nameOf,
  type Row,
  sectionOf,
  tablesOf,
  wordsOf,
} from "./gateway-document.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

const text = gatewayDocument();
const documented = documentedEndpoints(text);

let world: GatewayWorld;
let document: Json;
beforeAll(async () => {
  world = await createGatewayWorld({ options: { adminToken: "6f1d5c0e9b3a4872a1c5d7e9f0b2c4d6" } });
  document = (await world.call("GET", "/openapi.json", undefined, { key: null })).body;
});
afterAll(() => world.close());

/** References followed, parts of one object joined. */
function resolve(node: Json | undefined): Json {
  const ref: unknown = node?.$ref;
  if (typeof ref === "string") return resolve(document.components?.schemas?.[ref.split("/").at(-1) ?? ""]);
  const parts = [node?.allOf, node?.anyOf].find((one) => Array.isArray(one) && one.every(isStructure));
  if (!Array.isArray(parts)) return node ?? {};
  const all = parts.map((part: Json) => resolve(part));
  const properties = Object.assign({}, ...all.map((one) => one.properties)) as Json;
  const required = all.flatMap((one) => (Array.isArray(one.required) ? one.required : []));
  return { properties, required } as unknown as Json;
}
const isStructure = (part: Json): boolean => part.properties !== undefined || part.$ref !== undefined;
const schemaOf = (part: Json | undefined): Json | undefined => part?.content?.["application/json"]?.schema;
/** What the protocol of x402 defines stands by its name alone. */
const OF_THE_PROTOCOL = ["paymentPayload", "paymentRequirements"];

/** Names of all fields, those inside under a dotted name; lists of shapes that have a name of their own are not entered. */
function fieldsOf(schema: Json | undefined, path = ""): string[] {
  return Object.entries(resolve(schema).properties ?? {}).flatMap(([name, field]) => {
    const at = path + name;
    if (OF_THE_PROTOCOL.includes(at)) return [at];
    const items: Json | undefined = field?.items;
    const inside = items && items.$ref === undefined ? fieldsOf(items, `${at}[].`) : [];
    return [at, ...(field?.$ref === undefined ? fieldsOf(field, `${at}.`) : []), ...inside];
  });
}

interface Described extends Pick<DocumentedEndpoint, "endpoint" | "codes"> {
  readonly operation: Json;
}

function described(): Described[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item ?? {}).map(([method, operation]) => ({
      endpoint: `${method.toUpperCase()} ${path}`,
      operation: operation ?? {},
      codes: Object.entries(operation?.responses ?? {}).flatMap(([status, answer]) =>
        Object.keys(answer?.content?.["application/json"]?.examples ?? {}).map((code) => `${status} ${code}`),
      ),
    })),
  );
}

const parametersOf = (operation: Json): Json[] =>
  ((operation.parameters ?? []) as unknown as Json[]).filter((one) => String(one.in) !== "header");
const found = (endpoint: string): DocumentedEndpoint => {
  const one = documented.find((it) => it.endpoint === endpoint);
  if (!one) throw new Error(`docs/gateway.md does not describe ${endpoint}`);
  return one;
};
const names = (rows: readonly Row[]): string[] => rows.map(nameOf);

describe("docs/gateway.md", () => {
  it("has every path of the running gateway with its method, and no other", () => {
    const operator = tablesOf(sectionOf(text, "## The operator's API"))[0] ?? [];
    const written = [...documented.map(({ endpoint }) => endpoint), ...names(operator)];
    // The dashboard is pages and forms for people: its section describes it as a whole.
    const isForPeople = (path: string) => /^\/dashboard(\/|$)/.test(path);
    const routes = world.gateway.app.routes.filter(({ method, path }) => method !== "ALL" && !isForPeople(path));
    const served = new Set(routes.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`));
    expect(served.size).toBeGreaterThan(20);
    expect(written.sort()).toEqual([...served].sort());
  });

  it("has every field of every request and answer of the OpenAPI document, and no other", () => {
    for (const { endpoint, operation } of described()) {
      const { request, answer } = found(endpoint);
      const parameters = parametersOf(operation).map((one) => String(one.name));
      expect([endpoint, names(request)]).toEqual([
        endpoint,
        [...parameters, ...fieldsOf(schemaOf(operation.requestBody))],
      ]);
      expect([endpoint, names(answer)]).toEqual([endpoint, fieldsOf(schemaOf(operation.responses?.["200"]))]);
      for (const row of [...request, ...answer]) expect([endpoint, nameOf(row), row.means]).not.toContain("");
    }
  });

  it("says of every field whether it must be there, its bounds and its default", () => {
    for (const { endpoint, operation } of described()) {
      const schema = resolve(schemaOf(operation.requestBody));
      const fields = [
        ...parametersOf(operation).map((one) => ({ name: String(one.name), must: one.required, field: one.schema })),
        ...Object.entries(schema.properties ?? {}).map(([name, field]) => {
          return { name, must: (schema.required as unknown as string[]).includes(name), field };
        }),
      ];
      for (const { name, must, field } of fields) {
        const row = found(endpoint).request.find((one) => nameOf(one) === name);
        expect([endpoint, name, row?.required]).toEqual([endpoint, name, must ? "yes" : "no"]);
        const standard: unknown = field?.default;
        expect([endpoint, name, wordsOf(row?.default)[0]]).toEqual([
          endpoint,
          name,
          standard === undefined ? undefined : String(standard),
        ]);
        const bounds: Json | undefined = (field?.anyOf as unknown as Json[] | undefined)?.[0] ?? field;
        // A least that is excluded is told in words.
        for (const bound of [bounds?.maximum, bounds?.maxLength]) {
          if (bound !== undefined)
            expect([endpoint, name, row?.bounds]).toEqual([endpoint, name, expect.stringContaining(String(bound))]);
        }
      }
    }
    const rows = (endpoint: string) => Object.fromEntries(found(endpoint).request.map((row) => [nameOf(row), row]));
    expect(rows("POST /payment/send").amount?.bounds).toBe("0.001 to 100");
    expect(rows("POST /payment/send").priorityFee?.bounds).toBe("0.00001 to 0.01");
    expect(rows("GET /payment/history/{walletAddress}").limit).toMatchObject({ bounds: "1 to 500", default: "`50`" });
    expect(rows("POST /payment/receive").timeout).toMatchObject({ bounds: "1 to 300", default: "`30`" });
  });

  it("has every code of every endpoint, and no other", () => {
    for (const { endpoint, codes } of described()) {
      expect([endpoint, [...found(endpoint).codes].sort()]).toEqual([endpoint, [...codes].sort()]);
    }
  });

  it("has the table of errors as the code has it, and the one shape of an error", () => {
    const [shape = [], errors = []] = tablesOf(sectionOf(text, "## Errors"));
    const schema = { $ref: "#/components/schemas/ErrorAnswer" } as unknown as Json;
    expect(names(shape)).toEqual(fieldsOf(schema));
    expect(
      errors.map((row) => [nameOf(row), Number.parseInt(row.status ?? "", 10), row.when, row["what to do"]]),
    ).toEqual(Object.entries(GATEWAY_ERRORS).map(([code, { status, when, action }]) => [code, status, when, action]));
  });

  it("names the fields of the operator's shapes as the schemas do", () => {
    const section = sectionOf(text, "## The operator's API");
    const fields = names(tablesOf(sectionOf(section, "#### CreateKeyRequest")).flat());
    expect(fields).toEqual(["name", "mode", "plan", "scopes", "wallets", "rateLimit", "expiresAt"]);
  });

  it("has every command with its options, and no other", () => {
    const rows = tablesOf(sectionOf(text, "## Commands")).flat();
    expect(rows.map((row) => [nameOf(row), wordsOf(row.options)])).toEqual(
      // What a buyer calls stands in docs/cli.md.
      COMMANDS.filter(({ name }) => name !== "pay" && name !== "explain").map(({ name, operands = [], options }) => [
        ["tollgate", name, ...operands].join(" "),
        Object.keys(options).map((option) => `--${option}`),
      ]),
    );
  });

  it("has every scope, plan and state, and no other", () => {
    const [scopes = [], plans = []] = tablesOf(sectionOf(text, "## Keys, plans and limits"));
    expect(scopes.map((row) => wordsOf(row.scope)[0]).sort()).toEqual([...SCOPES].sort());
    expect(plans.map((row) => [wordsOf(row.plan)[0], Number(row["requests a minute"]) || "key"])).toEqual(
      Object.entries(BUILT_IN_PLANS).map(([name, { perMinute }]) => [name, perMinute]),
    );
    const [states = []] = tablesOf(sectionOf(text, "## Payment states"));
    expect(states.map((row) => wordsOf(row.state)[0])).toEqual([...PAYMENT_STATUSES]);
  });
});

describe("the settings in docs/gateway.md", () => {
  const [settings = [], network = []] = tablesOf(sectionOf(text, "## Settings"));
  const written = settings.flatMap((row) => wordsOf(row.environment));
  const NETWORKS = ["BASE_SEPOLIA", "SOLANA_DEVNET"];

  it("are the names that the code reads, and no other", () => {
    // What stands in no other place: the value of each name, where it is looked at.
    const read = new Set<string>();
    const values: Record<string, string> = {
      TOLLGATE_RPC_URL_BASE_SEPOLIA: "http://127.0.0.1:9",
      TOLLGATE_RPC_URL_SOLANA_DEVNET: "http://127.0.0.1:9",
      TOLLGATE_CONFIRMATIONS_BASE_SEPOLIA: "2",
      TOLLGATE_SETTLER_KEY_BASE_SEPOLIA: `0x${"1".repeat(64)}`,
      TOLLGATE_SETTLER_KEY_SOLANA_DEVNET: "1".repeat(64),
    };
    const env = new Proxy(values, {
      get(target, name) {
        if (typeof name === "string") read.add(name);
        return typeof name === "string" ? target[name] : undefined;
      },
    });
    readGatewayOptions({}, env);
    const general = [...read].map((name) =>
      NETWORKS.reduce((short, suffix) => short.replace(new RegExp(`_${suffix}$`), "_<NETWORK>"), name),
    );
    expect([...new Set(general)].sort()).toEqual([...new Set(written)].sort());
  });

  it("are the options of createGateway, and no other", () => {
    const options = settings.flatMap((row) => wordsOf(row.option).map((name) => name.split(".")[0] ?? ""));
    expect([...new Set(options)].sort()).toEqual(Object.keys(gatewaySchema.shape).sort());
  });

  it("have every field of a network, on its chains", () => {
    const on = (chains: readonly string[]) =>
      network.filter((row) => chains.includes(row.chains ?? "")).flatMap((row) => wordsOf(row.field));
    expect(on(["both", "EVM"]).sort()).toEqual(Object.keys(evmNetworkSchema.shape).sort());
    expect(on(["both", "Solana"]).sort()).toEqual(Object.keys(solanaNetworkSchema.shape).sort());
  });

  it("have the defaults that the code has", () => {
    const defaults = readGatewayOptions({ networks: { "base-sepolia": { rpcUrl: "http://127.0.0.1:9" } } }, {});
    const byOption = Object.fromEntries(settings.map((row) => [wordsOf(row.option)[0] ?? "", wordsOf(row.default)[0]]));
    expect(byOption).toMatchObject({
      port: String(defaults.port),
      host: defaults.host,
      database: "file" in defaults.database ? defaults.database.file : "",
      "sponsored.perAccount": String(defaults.sponsored.perAccount),
      "sponsored.perPayer": String(defaults.sponsored.perPayer),
      trustProxy: String(defaults.trustProxy),
      shutdownMs: String(defaults.shutdownMs),
      "networks.*.confirmations": String(defaults.networks[0]?.confirmations),
    });
  });
});
