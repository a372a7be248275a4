// The options in a file of JSON: the same shape as in code, bigint fields as decimal text. It fills what options and
// environment leave out.
import { readFileSync } from "node:fs";
import { optionPath, type Problems } from "../../config-problems.js";
import { reasonOf } from "./environment.js";
import { isObject, type Layer, toLayer } from "./layers.js";

/** Fields of networks that are bigint in code. */
const BIGINTS = ["maxFeePerGas", "maxUnitPrice", "maxTotalFeeLamports"];
const DIGITS = /^(?:0|[1-9][0-9]{0,77})$/;

/** An empty layer where the file cannot be read: that is a problem, told under `name`. */
export function readFile(file: string, name: string, problems: Problems): Layer {
  const nameOf = (path: readonly PropertyKey[]) => `${file}: ${optionPath("", path)}`;
  const written = parse(file, name, problems);
  if (written !== undefined && !isObject(written)) {
    problems.add(name, "invalid", `the file ${JSON.stringify(file)} must hold one object of options`);
  }
  return toLayer(isObject(written) ? withBigints(written) : {}, nameOf, problems);
}

function parse(file: string, name: string, problems: Problems): unknown {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    problems.add(name, "invalid", `the file ${JSON.stringify(file)} cannot be read: ${reasonOf(error)}`);
    return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own words would repeat what stands there.
    problems.add(name, "invalid", `the file ${JSON.stringify(file)} is no JSON`);
    return undefined;
  }
}

function withBigints(written: Record<string, unknown>): Record<string, unknown> {
  if (!isObject(written.networks)) return written;
  const networks = Object.entries(written.networks).map(([key, entry]) => [key, isObject(entry) ? read(entry) : entry]);
  return { ...written, networks: Object.fromEntries(networks) };
}

const read = (entry: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(entry).map(([field, value]) => {
      const isText = BIGINTS.includes(field) && typeof value === "string" && DIGITS.test(value);
      return [field, isText ? BigInt(value) : value];
    }),
  );
