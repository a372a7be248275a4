// The contestants: which app builds each, and which payments it takes.

/** `wires`: x402 versions in which a payment reaches the handler. `perRoute`: the framework's router finds the price. */
export const LIBRARIES = [
  { name: "bare framework", app: "bare", wires: [], reference: true },
  { name: "empty middleware", app: "bare", wires: [], options: { middleware: "empty" } },
  { name: "tollgate", app: "tollgate", wires: [1, 2], options: { receive: "facilitator" }, ours: true },
  {
    name: "tollgate, signature here",
    app: "tollgate",
    wires: [1, 2],
    options: { receive: "facilitator-local-check" },
    ours: true,
    paidOnly: true,
  },
  {
    name: "tollgate, Solana, remote",
    app: "tollgate",
    wires: [1, 2],
    options: { receive: "facilitator", money: "solana" },
    ours: true,
    paidOnly: true,
  },
  {
    name: "tollgate, Solana, signature here",
    app: "tollgate",
    wires: [1, 2],
    options: { receive: "facilitator-local-check", money: "solana" },
    ours: true,
    paidOnly: true,
  },
  {
    name: "tollgate, own RPC",
    app: "tollgate",
    wires: [1, 2],
    options: { receive: "rpc" },
    ours: true,
    paidOnly: true,
  },
  { name: "x402-express, x402-hono", app: "x402-1", wires: [1] },
  { name: "@x402/express, @x402/hono", app: "x402-2", wires: [2] },
  {
    name: "@x402/express, @x402/hono, Solana",
    app: "x402-2",
    wires: [2],
    options: { money: "solana" },
    paidOnly: true,
  },
  { name: "@faremeter/middleware", app: "faremeter", wires: [1, 2], perRoute: true },
  { name: "mppx", app: "mppx", wires: [2], perRoute: true },
];

/** By name or app: `--libraries tollgate,bare`. `against`: another build of ours, which gets columns of its own. */
export function chosenLibraries(words, against) {
  const others = LIBRARIES.filter(({ ours }) => against !== undefined && ours).map((library) => ({
    ...library,
    name: `${library.name} (other build)`,
    options: { ...library.options, dist: against },
  }));
  const all = [...LIBRARIES, ...others];
  if (!words) return all;
  return all.filter(({ name, app, reference }) => reference || words.some((word) => name === word || app === word));
}
