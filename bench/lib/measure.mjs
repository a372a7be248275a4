// Bursts in turn: A B C … C B A …, so that whatever else the machine does meets all of them. A figure is the median of its
// rounds; a ratio is taken inside each round, against the reference of the same round, before the median.
import { loadavg } from "node:os";

const FORTY_MB_OF_REQUESTS = 30_000;
/** Fewest requests of one burst that say something. */
const LEAST = 1_000;
/** Requests after which the compiler has settled, as far as a slow server gets in so many milliseconds. */
const WARM = { requests: 6_000, paid: 2_000, ms: 6_000 };

/** One thing to measure: a server, a path, and the payments to send if any. */
export function cellOf({ server, path, version, routes, kind }) {
  return { server, path, version, routes, kind, rounds: [], pool: undefined, perMs: 0 };
}

/** Measures all cells for this many rounds. The first cell whose library is the reference is what others are compared with. */
export async function measure(surroundings, cells, { rounds, ms, connections, onRound }) {
  for (const cell of cells) await warmUp(surroundings, cell, connections);
  for (let round = 0; round < rounds; round++) {
    for (const cell of round % 2 === 0 ? cells : cells.toReversed()) {
      await top(surroundings, cell, ms);
      cell.rounds.push(await burst(surroundings, cell, { ms, connections }));
    }
    onRound?.(round);
  }
  return cells.map((cell) => summary(cell, cells));
}

/** Lets the compiler settle, and shows how many payments a burst takes. */
async function warmUp(surroundings, cell, connections) {
  if (cell.version !== undefined) {
    cell.pool = `${cell.server.port} v${cell.version}`;
    await sign(surroundings, cell, WARM.paid + connections);
  }
  const limit = cell.version === undefined ? WARM.requests : WARM.paid;
  const seen = await burst(surroundings, cell, { ms: WARM.ms, connections, limit });
  cell.perMs = seen.requests / seen.elapsedMs;
}

const sign = (surroundings, cell, count) =>
  surroundings.load.ask("sign", {
    ...{ port: cell.server.port, path: cell.path, version: cell.version, pool: cell.pool, count },
  });

/** Signs what the next burst will take and a half more: it may run faster than the ones before. */
async function top(surroundings, cell, ms) {
  if (cell.version === undefined) return;
  const { left } = await sign(surroundings, cell, 0);
  const wanted = Math.min(FORTY_MB_OF_REQUESTS, Math.max(LEAST, Math.ceil(cell.perMs * ms * 2)) + 500);
  if (left < wanted) await sign(surroundings, cell, wanted - left);
}

async function burst({ load, facilitator, chain }, cell, { ms, connections, limit }) {
  const { server, path, pool } = cell;
  const [before, askedBefore, minedBefore] = await counts(server, facilitator, chain);
  const seen = await load.ask("burst", { port: server.port, path, connections, ms, least: LEAST, limit, pool });
  const [after, askedAfter, minedAfter] = await counts(server, facilitator, chain);
  const each = (late, early) => (late - early) / seen.requests;
  return {
    requests: seen.requests,
    elapsedMs: seen.elapsedMs,
    rps: seen.requests / (seen.elapsedMs / 1000),
    cpuUs: each(after.cpuUs, before.cpuUs),
    p50: seen.p50,
    p99: seen.p99,
    statuses: seen.statuses,
    dry: seen.dry,
    verifyCalls: each(askedAfter.verify, askedBefore.verify),
    settleCalls: each(askedAfter.settle, askedBefore.settle) + each(minedAfter.sent, minedBefore.sent),
    load: loadavg()[0],
  };
}

/** CPU time of the server, and what the stubs were asked. */
const counts = (server, facilitator, chain) =>
  Promise.all([server.stat(), facilitator.ask("counts"), chain.ask("counts")]);

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Half the distance between the quartiles, as a share of the median. */
export function spread(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.round((sorted.length - 1) * share)];
  return (at(0.75) - at(0.25)) / 2 / median(values);
}

/** The median over the rounds of a figure of one cell divided by that of another one in the same round. */
export const ratio = (cell, other, figure) =>
  median(cell.rounds.map((round, i) => round[figure] / other.rounds[i][figure]));

function summary(cell, cells) {
  const { server, kind, routes, version, rounds } = cell;
  const of = (figure) => rounds.map((round) => round[figure]);
  const reference = cells.find((other) => other.server.library.reference && other.kind === kind) ?? cell;
  const statuses = {};
  for (const round of rounds) {
    for (const [status, count] of Object.entries(round.statuses)) statuses[status] = (statuses[status] ?? 0) + count;
  }
  return {
    ...{ library: server.library.name, framework: server.framework, kind, routes, version },
    ...{ rps: median(of("rps")), rpsSpread: spread(of("rps")), rpsRatio: ratio(cell, reference, "rps") },
    ...{ cpuUs: median(of("cpuUs")), cpuSpread: spread(of("cpuUs")), cpuRatio: ratio(cell, reference, "cpuUs") },
    addedUs: median(rounds.map((round, i) => round.cpuUs - reference.rounds[i].cpuUs)),
    ...{ p50: median(of("p50")), p99: median(of("p99")) },
    ...{ verifyCalls: median(of("verifyCalls")), settleCalls: median(of("settleCalls")) },
    ...{ statuses, dry: rounds.some((round) => round.dry), load: Math.max(...of("load")), rounds },
  };
}
