// The tables of docs/gateway.md, made of what the gateway runs with: its OpenAPI document, its schemas, its table of errors and
// its commands. Needs a build.
import { OpenAPIHono } from "@hono/zod-openapi";
import { COMMANDS } from "../dist/src/cli/commands.js";
import { GATEWAY_ERRORS } from "../dist/src/gateway/errors.js";
import { PROTECTED } from "../dist/src/gateway/http/endpoints.js";
import { describeApi, documentOf } from "../dist/src/gateway/http/openapi.js";
import * as schemas from "../dist/src/gateway/schemas/index.js";
import { OPERATOR, WIRE_WORDS } from "./gateway-words.mjs";

const app = new OpenAPIHono();
describeApi(app.openAPIRegistry);
// The operator's API stands in no public document; its shapes are described by the same means.
const OPERATOR_SCHEMAS = {
  CreateAccountRequest: schemas.createAccountRequest,
  Account: schemas.accountRecord,
  CreateKeyRequest: schemas.createKeyRequest,
  ApiKey: schemas.keyRecord,
  CreateWalletRequest: schemas.createWalletRequest,
  ChangeLimitsRequest: schemas.changeLimitsRequest,
  HostedWallet: schemas.walletRecord,
};
for (const [name, schema] of Object.entries(OPERATOR_SCHEMAS)) app.openAPIRegistry.register(name, schema);
const document = documentOf(app, undefined);

const table = (head, rows) =>
  [
    `| ${head.join(" | ")} |`,
    `|${"---|".repeat(head.length)}`,
    ...rows.map((cells) => `| ${cells.join(" | ")} |`),
  ].join("\n");
const code = (text) => `\`${text}\``;
const nameOf = ({ $ref }) => $ref?.split("/").at(-1);

/** One schema with references followed and parts joined. */
function resolve(schema) {
  if (schema.$ref) return resolve(document.components.schemas[nameOf(schema)]);
  const parts = schema.allOf ?? (schema.anyOf?.every((one) => one.properties) ? schema.anyOf : undefined);
  if (!parts) return schema;
  const all = parts.map(resolve);
  const merged = { type: "object", properties: {}, required: all.flatMap(({ required = [] }) => required) };
  for (const { properties } of all) {
    for (const [name, field] of Object.entries(properties)) {
      const earlier = merged.properties[name];
      const values = [earlier, field].flatMap((one) => (one?.const === undefined ? [] : [one.const]));
      merged.properties[name] = values.length > 1 ? { ...field, const: undefined, enum: values } : field;
    }
  }
  return merged;
}

const isObject = (schema) => schema.properties !== undefined && Object.keys(schema.properties).length > 0;

/** Every field, those of objects inside under a dotted name. */
function fieldsOf(schema, path = "") {
  const { properties = {}, required = [] } = resolve(schema);
  return Object.entries(properties).flatMap(([name, field]) => {
    const at = path + name;
    const own = { at, field, required: required.includes(name) };
    if (nameOf(field) || WIRE_WORDS[at]?.closed) return [own];
    if (isObject(field)) return [own, ...fieldsOf(field, `${at}.`)];
    const items = field.items;
    return items && !nameOf(items) && isObject(items) ? [own, ...fieldsOf(items, `${at}[].`)] : [own];
  });
}

function typeOf(field) {
  if (nameOf(field)) return nameOf(field);
  if (field.anyOf)
    return [...new Set(field.anyOf.map((one) => (one.pattern ? "decimal text" : typeOf(one))))].join(" or ");
  if (field.const !== undefined) return code(JSON.stringify(field.const));
  if (field.enum) return field.enum.map((value) => code(JSON.stringify(value).replaceAll('"', ""))).join(", ");
  if (field.type === "array") return `list of ${nameOf(field.items) ?? typeOf(field.items)}`;
  return [field.type ?? "anything"].flat().join(" or ");
}

function boundsOf(field) {
  const { minimum, maximum, exclusiveMinimum, minLength, maxLength, minItems, maxItems } = field.anyOf?.[0] ?? field;
  const isAbove = exclusiveMinimum !== undefined && exclusiveMinimum >= (minimum ?? exclusiveMinimum);
  const least = isAbove ? `more than ${exclusiveMinimum}` : minimum;
  if (maximum !== undefined && Math.abs(maximum) < Number.MAX_SAFE_INTEGER) {
    return isAbove
      ? `${least}, at most ${plain(maximum)}`
      : least === undefined
        ? `at most ${plain(maximum)}`
        : `${plain(least)} to ${plain(maximum)}`;
  }
  if (least !== undefined && Math.abs(Number(minimum ?? 0)) < Number.MAX_SAFE_INTEGER) return String(least);
  if (maxLength !== undefined) return `${minLength ? `${minLength} to ` : "at most "}${maxLength} characters`;
  if (maxItems !== undefined) return `at most ${maxItems}`;
  return minItems === undefined ? "" : `at least ${minItems}`;
}

/** Without an exponent. */
const plain = (value) =>
  typeof value === "number" && value > 0 && value < 1e-3 ? value.toFixed(7).replace(/0+$/, "") : String(value);

const wordsOf = (at, field) => {
  const words = field.description ?? WIRE_WORDS[at]?.words;
  if (!words) throw new Error(`The field ${at} is not described: give it .describe() in its schema`);
  return words.replaceAll("|", "\\|");
};

const requestRow = ({ at, field, required }) => [
  code(at),
  typeOf(field),
  required ? "yes" : "no",
  boundsOf(field),
  field.default === undefined ? "" : code(JSON.stringify(field.default).replaceAll('"', "")),
  wordsOf(at, field),
];
const answerRow = ({ at, field, required }) => [
  code(at),
  typeOf(field),
  `${wordsOf(at, field)}${required ? "" : " (not always there)"}`,
];
const REQUEST = ["field", "type", "required", "bounds", "default", "means"];
const ANSWER = ["field", "type", "means"];

const requestTable = (schema) => table(REQUEST, fieldsOf(schema).map(requestRow));
const answerTable = (schema) => table(ANSWER, fieldsOf(schema).map(answerRow));
const contentOf = (part) => part?.content?.["application/json"]?.schema;

function codesOf({ responses }) {
  const found = Object.entries(responses)
    .filter(([status]) => status !== "200")
    .flatMap(([status, { content }]) =>
      Object.keys(content["application/json"].examples).map((name) => `${status} ${code(name)}`),
    );
  return `Errors: ${found.join(", ")}.`;
}

/** Every endpoint of the OpenAPI document but the WebSocket, which has a section of its own words. */
export function endpoints() {
  const sections = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => !operation["x-websocket"])
      .map(([method, operation]) => {
        const parameters = (operation.parameters ?? []).filter((one) => one.in !== "header");
        const body = contentOf(operation.requestBody);
        const known = PROTECTED.find((one) => one.path === path);
        const facts = known
          ? `${known.summary}. ${known.description} Scope: ${known.scopes.map(code).join(" or ")}.`
          : `${operation.summary}. Public: no key is needed.`;
        return [
          `### ${method.toUpperCase()} ${path}`,
          facts,
          ...(parameters.length === 0
            ? []
            : [
                table(
                  REQUEST,
                  parameters.map((one) => requestRow(toField(one))),
                ),
              ]),
          ...(body ? [requestTable(body)] : []),
          "Answer 200:",
          answerTable(contentOf(operation.responses["200"])),
          codesOf(operation),
        ].join("\n\n");
      }),
  );
  return sections.join("\n\n");
}

const toField = ({ name, schema, required, description }) => ({
  at: name,
  required,
  field: { ...schema, description: schema.description ?? description },
});

export const errors = () =>
  table(
    ["code", "status", "when", "what to do", "again?"],
    Object.entries(GATEWAY_ERRORS).map(([name, { status, when, action, retryable }]) => [
      code(name),
      name === "PAYMENT_VERIFICATION_FAILED" ? `${status}, 504 where time ran out` : String(status),
      when,
      action,
      retryable ? "yes" : "no",
    ]),
  );

export const errorShape = () => answerTable({ $ref: "#/components/schemas/ErrorAnswer" });

/** The operator's API: endpoints first, then the shapes that they name. */
export function operator() {
  const shapes = Object.keys(OPERATOR_SCHEMAS).map((name) => {
    const schema = { $ref: `#/components/schemas/${name}` };
    return [`#### ${name}`, name.endsWith("Request") ? requestTable(schema) : answerTable(schema)].join("\n\n");
  });
  const limit = ["#### WalletLimit", requestTable({ $ref: "#/components/schemas/WalletLimit" })].join("\n\n");
  return [
    table(
      ["endpoint", "does", "body", "answer, beside `success`"],
      OPERATOR.map(({ endpoint, does, body = "", answer }) => [code(endpoint), does, body, answer]),
    ),
    ...shapes,
    limit,
  ].join("\n\n");
}

/** What an operator of a gateway calls; the rest is the buyer's. */
const BUYERS = ["pay", "explain"];

export const commands = () =>
  table(
    ["command", "does", "options"],
    COMMANDS.filter(({ name }) => !BUYERS.includes(name)).map(({ name, operands = [], summary, options }) => [
      code(["tollgate", name, ...operands].join(" ")),
      summary,
      Object.keys(options)
        .map((option) => code(`--${option}`))
        .join(" "),
    ]),
  );
