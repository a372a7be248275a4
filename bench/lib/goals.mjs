// What the figures are held against: each goal is a ratio or a difference between two cells of one run.
import { ratio } from "./measure.mjs";

const PEERS = ["x402-express, x402-hono", "@x402/express, @x402/hono", "@faremeter/middleware", "mppx"];
const X402 = "@x402/express, @x402/hono";

const at = (rows, wanted) => rows?.find((row) => Object.entries(wanted).every(([key, value]) => row[key] === value));

/** The goals that this run has figures for: name, limit, what came, and whether it is kept. */
export function judgeGoals(results) {
  return [
    ...unpaidGoals(results.unpaid),
    ...freeGoals(results.free),
    ...routeGoals(results.routes),
    ...paidGoals(results.paid),
    ...footprintGoals(results),
  ];
}

const most = (name, limit, got) => ({ name, limit: `at most ${limit}`, got, kept: got <= limit });
const least = (name, limit, got) => ({ name, limit: `at least ${limit}`, got, kept: got >= limit });

function unpaidGoals(rows) {
  return frameworksOf(rows).flatMap((framework) => {
    const ours = at(rows, { framework, library: "tollgate" });
    if (!ours) return [];
    const peers = PEERS.map((library) => at(rows, { framework, library })).filter(Boolean);
    const cpu = most(`${framework}: unpaid 402, CPU ÷ bare`, framework === "hono" ? 1.25 : 0.95, ours.cpuRatio);
    if (peers.length === 0) return [cpu];
    const best = Math.min(...peers.map((peer) => ratio(ours, peer, "rps")));
    return [cpu, least(`${framework}: unpaid 402, requests/s ÷ best peer`, 1.4, best)];
  });
}

function freeGoals(rows) {
  return frameworksOf(rows).flatMap((framework) => {
    const ours = at(rows, { framework, library: "tollgate" });
    const empty = at(rows, { framework, library: "empty middleware" });
    if (!ours || !empty) return [];
    if (framework === "express") {
      return [least("express: free route, requests/s ÷ empty middleware", 0.97, ratio(ours, empty, "rps"))];
    }
    return [most("hono: free route, added CPU ÷ empty middleware's", 1.6, ours.addedUs / empty.addedUs)];
  });
}

function routeGoals(rows) {
  const sizes = [...new Set(rows?.map((row) => row.routes))];
  const [fewest, largest] = [Math.min(...sizes), Math.max(...sizes)];
  if (!rows || fewest === largest) return [];
  return frameworksOf(rows).flatMap((framework) =>
    ["unpaid, last route", "free"].flatMap((kind) => {
      const wanted = { framework, kind, library: "tollgate" };
      const [one, many] = [fewest, largest].map((routes) => at(rows, { ...wanted, routes }));
      if (!one || !many) return [];
      return [most(`${framework}: ${kind}, CPU at ${largest} routes ÷ ${fewest}`, 1.15, ratio(many, one, "cpuUs"))];
    }),
  );
}

function paidGoals(rows) {
  return frameworksOf(rows).flatMap((framework) => {
    const peer = at(rows, { framework, library: X402, version: 2 });
    const remote = at(rows, { framework, library: "tollgate", version: 2 });
    const here = at(rows, { framework, library: "tollgate, signature here", version: 2 });
    const faremeter = at(rows, { framework, library: "@faremeter/middleware", version: 2 });
    const [forRemote, forHere] = framework === "express" ? [3, 4] : [4.5, 6];
    const goals = [];
    if (peer && remote) {
      goals.push(least(`${framework}: paid, all remote, requests/s ÷ ${X402}`, forRemote, ratio(remote, peer, "rps")));
    }
    if (peer && here) {
      goals.push(least(`${framework}: paid, signature here, requests/s ÷ ${X402}`, forHere, ratio(here, peer, "rps")));
    }
    if (faremeter && here) {
      goals.push(
        least(
          `${framework}: paid, signature here, requests/s ÷ @faremeter/middleware`,
          1,
          ratio(here, faremeter, "rps"),
        ),
      );
    }
    return goals;
  });
}

function footprintGoals({ imports, growth, stream, download }) {
  const goals = [];
  const importRow = at(imports, { framework: "express", library: "tollgate" });
  if (importRow) goals.push(most("express: import, ms above the framework", 90, importRow.addedMs));
  for (const row of growth?.filter(({ library }) => library === "tollgate") ?? []) {
    goals.push(
      most(`${row.framework}: memory left after unpaid and paid requests, MB`, 20, row.unpaidRssMb + row.paidRssMb),
    );
  }
  for (const framework of frameworksOf(stream)) {
    const [ours, bare] = ["tollgate", "bare framework"].map((library) => at(stream, { framework, library }));
    if (ours && bare && ours.statuses === "200") {
      goals.push(most(`${framework}: first byte of a stream, ms above bare`, 10, ours.firstByteMs - bare.firstByteMs));
    }
  }
  for (const framework of frameworksOf(download)) {
    const [ours, bare] = ["tollgate", "bare framework"].map((library) => at(download, { framework, library }));
    if (ours && bare && ours.statuses === "200") {
      goals.push(most(`${framework}: peak memory of 64 MB, MB above bare`, 4, ours.peakMb - bare.peakMb));
    }
  }
  return goals;
}

const frameworksOf = (rows) => [...new Set(rows?.map(({ framework }) => framework))];
