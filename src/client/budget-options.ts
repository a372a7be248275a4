// Reads the option `budget`: its amounts by place and kind of money, and whatever contradicts itself there.
// Invariant: money with a cap has a limit of hour or day, and the reverse, so that what may be paid cannot be paid for ever.
import { optionPath, type Problems } from "../config-problems.js";
import { type ReadCap, readCaps } from "./caps.js";
import { readHost } from "./host-name.js";
import { memberOf } from "./option-schema.js";

/** Windows of a budget, the shorter one first. */
export const WINDOWS = ["perHour", "perDay"] as const;
type CapsByUnit = ReadonlyMap<string, ReadCap>;

/** The limits of one place: of all hosts together, or of one. */
export interface Scope {
  readonly path: string;
  readonly perRequest: CapsByUnit;
  readonly perHour: CapsByUnit;
  readonly perDay: CapsByUnit;
}

export interface Scopes {
  readonly whole: Scope;
  /** By host in its one spelling. */
  readonly hosts: ReadonlyMap<string, Scope>;
}

/** Reads whatever can be read. What cannot be is a problem; what has no form of a budget at all was reported already. */
export function readScopes(given: unknown, path: string, problems: Problems): Scopes {
  const before = problems.count;
  const whole = readScope(given, path, problems);
  const hosts = new Map<string, Scope>();
  for (const [name, limits] of Object.entries(Object(memberOf(given, "hosts")))) {
    const at = optionPath(path, ["hosts", name]);
    const read = readHost(name);
    if (!read.ok) problems.add(at, "invalid", read.problem);
    else if (hosts.has(read.host)) problems.add(at, "contradiction", `${read.host} stands there twice: keep one`);
    else hosts.set(read.host, readScope(limits, at, problems));
  }
  // What could not be read, or is not there and was reported so, would be missed once more.
  const isThere = whole.perRequest.size > 0 && WINDOWS.some((name) => whole[name].size > 0);
  if (isThere && problems.count === before) checkScopes({ whole, hosts }, problems);
  return { whole, hosts };
}

function readScope(given: unknown, path: string, problems: Problems): Scope {
  const read = (name: string) => readCaps(memberOf(given, name), optionPath(path, [name]), problems);
  return { path, perRequest: read("perRequest"), perHour: read("perHour"), perDay: read("perDay") };
}

const ZERO = "0 stops every payment: leave it out, or say it of one host, under budget.hosts";

function checkScopes({ whole, hosts }: Scopes, problems: Problems): void {
  const places = [...hosts.values()];
  for (const { amount, path } of [whole.perRequest, ...windowsOf(whole)].flatMap((caps) => [...caps.values()])) {
    if (amount === 0n) problems.add(path, "contradiction", ZERO);
  }
  checkCaps(whole, [whole], problems);
  checkWindows(whole, [whole, ...places], problems);
  for (const host of places) {
    checkCaps(host, [host, whole], problems);
    checkWindows(host, [host, whole], problems);
  }
}

const windowsOf = (scope: Scope): readonly CapsByUnit[] => WINDOWS.map((name) => scope[name]);

/** Each cap needs a limit among those that bind with it, and must fit into all of them. */
function checkCaps(own: Scope, binding: readonly Scope[], problems: Problems): void {
  for (const { unit, amount, path } of own.perRequest.values()) {
    const limits = binding.flatMap(windowsOf).flatMap((caps) => caps.get(unit.id) ?? []);
    const text = unit.format(amount);
    // What is never paid at a host needs no limit there.
    if (limits.length === 0 && amount > 0n) {
      const remedy = `add an amount of this money to ${optionPath(own.path, ["perHour"])} or perDay`;
      const message = `${text} has no limit for an hour or a day, so a loop would not end: ${remedy}`;
      problems.add(path, "contradiction", message);
    }
    const below = limits.find((limit) => limit.amount < amount);
    if (below) {
      const message = `${text} is above ${below.path}, which is ${unit.format(below.amount)}: lower it, or raise that`;
      problems.add(path, "contradiction", message);
    }
  }
}

/** Each limit needs a cap in one of the places, and one of an hour must be able to bind before that of the day. */
function checkWindows(own: Scope, capped: readonly Scope[], problems: Problems): void {
  for (const { unit, amount, path } of windowsOf(own).flatMap((caps) => [...caps.values()])) {
    if (capped.some(({ perRequest }) => perRequest.has(unit.id))) continue;
    const remedy = `add an amount of this money to ${optionPath(own.path, ["perRequest"])}`;
    const message = `${unit.format(amount)} has no limit for one request, so it is never paid: ${remedy}`;
    problems.add(path, "contradiction", message);
  }
  for (const { unit, amount, path } of own.perHour.values()) {
    const day = own.perDay.get(unit.id);
    if (!day || amount <= day.amount) continue;
    const remedy = "lower it, or leave it out";
    const message = `${unit.format(amount)} is above ${day.path}, which is ${unit.format(day.amount)}: ${remedy}`;
    problems.add(path, "contradiction", message);
  }
}
