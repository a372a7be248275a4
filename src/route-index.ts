// Finds the first route of a table for a path: literal routes by a map, patterns by a trie over segments. The cost depends
// on the path and on how many patterns overlap on it, not on the number of routes.
import type { Reading } from "./path.js";
import type { Part } from "./route-key.js";
import type { RouteEntry } from "./settings.js";

/** An entry with its place in the table: the lowest rank wins. */
export interface Ranked {
  readonly rank: number;
  readonly entry: RouteEntry;
}

export interface RouteIndex {
  /** `methods`: the methods it answers; undefined = every one. */
  add(parts: readonly Part[], methods: readonly string[] | undefined, ranked: Ranked): void;
  /** The lowest rank that matches the segments, which are compared character by character. */
  find(segments: Reading, method: string): Ranked | undefined;
  /** Every match, in no order. */
  findAll(segments: Reading, method: string): readonly Ranked[];
}

/** Entries of one pattern by method; `ANY` = every method. */
type Slots = Map<string, Ranked>;
const ANY = "";

interface Node {
  readonly literals: Map<string, Node>;
  param: Node | undefined;
  here: Slots | undefined;
  rest: Slots | undefined;
  /** Lowest rank at or below this node. */
  least: number;
}

/** Makes an empty index. */
export function createRouteIndex(): RouteIndex {
  const literals = new Map<string, Slots>();
  const root = createNode();
  let hasPatterns = false;

  return {
    add(parts, methods, ranked) {
      const texts = parts.map((part) => (part.kind === "literal" ? part.text : undefined));
      if (texts.every((text) => text !== undefined)) {
        const key = texts.join("/");
        const slots = literals.get(key) ?? new Map();
        literals.set(key, slots);
        return put(slots, methods, ranked);
      }
      hasPatterns = true;
      put(slotsFor(root, parts, ranked.rank), methods, ranked);
    },
    find(segments, method) {
      const literal = literals.size > 0 ? pick(literals.get(segments.join("/")), method) : undefined;
      return hasPatterns ? walk(root, segments, 0, method, literal) : literal;
    },
    findAll(segments, method) {
      const slots = [literals.get(segments.join("/")), ...(hasPatterns ? slotsOn(root, segments, 0) : [])];
      return slots.flatMap((one) => [one?.get(method), one?.get(ANY)]).filter((found) => found !== undefined);
    },
  };
}

function createNode(): Node {
  return { literals: new Map(), param: undefined, here: undefined, rest: undefined, least: Number.POSITIVE_INFINITY };
}

function slotsFor(root: Node, parts: readonly Part[], rank: number): Slots {
  let node = root;
  node.least = Math.min(node.least, rank);
  for (const part of parts) {
    if (part.kind === "rest") {
      node.rest ??= new Map();
      return node.rest;
    }
    const next: Node = (part.kind === "literal" ? node.literals.get(part.text) : node.param) ?? createNode();
    if (part.kind === "literal") node.literals.set(part.text, next);
    else node.param = next;
    next.least = Math.min(next.least, rank);
    node = next;
  }
  node.here ??= new Map();
  return node.here;
}

/** The first entry of the table keeps its slot. */
function put(slots: Slots, methods: readonly string[] | undefined, ranked: Ranked): void {
  for (const method of methods ?? [ANY]) if (!slots.has(method)) slots.set(method, ranked);
}

function pick(slots: Slots | undefined, method: string): Ranked | undefined {
  return slots && lower(slots.get(method), slots.get(ANY));
}

function lower(a: Ranked | undefined, b: Ranked | undefined): Ranked | undefined {
  if (!a || !b) return a ?? b;
  return a.rank < b.rank ? a : b;
}

function walk(
  node: Node,
  segments: Reading,
  at: number,
  method: string,
  found: Ranked | undefined,
): Ranked | undefined {
  // Nothing below can come earlier in the table than what is found already.
  if (found && node.least > found.rank) return found;
  let best = lower(found, pick(node.rest, method));
  const segment = segments[at];
  if (segment === undefined) return lower(best, pick(node.here, method));
  const literal = node.literals.get(segment);
  if (literal) best = walk(literal, segments, at + 1, method, best);
  return node.param && segment !== "" ? walk(node.param, segments, at + 1, method, best) : best;
}

/** The slots of all patterns that match. */
function slotsOn(node: Node, segments: Reading, at: number): (Slots | undefined)[] {
  const segment = segments[at];
  if (segment === undefined) return [node.rest, node.here];
  const literal = node.literals.get(segment);
  return [
    node.rest,
    ...(literal ? slotsOn(literal, segments, at + 1) : []),
    ...(node.param && segment !== "" ? slotsOn(node.param, segments, at + 1) : []),
  ];
}
