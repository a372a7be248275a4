// The parts that are measured under load: free route, unpaid request, many routes, paid request.
import { cellOf, measure } from "./measure.mjs";
import { startServer } from "./processes.mjs";
import { routesOf } from "./terms.mjs";

/** Starts the servers of one framework, one after the other: their start-up is no load. */
async function withServers(libraries, framework, routes, surroundings, use) {
  const servers = [];
  try {
    for (const library of libraries) {
      servers.push(await startServer(library, framework, routes, surroundings.urls));
    }
    return await use(servers);
  } finally {
    for (const server of servers) await server.stop();
  }
}

const always = ({ paidOnly }) => !paidOnly;

/** A request that nobody sells: what the paywall costs those who do not pay. */
export async function free({ frameworks, libraries, surroundings, plan }) {
  const results = [];
  for (const framework of frameworks) {
    const rows = await withServers(libraries.filter(always), framework, 1, surroundings, (servers) => {
      const cells = servers.map((server) => cellOf({ server, path: "/free", routes: 1, kind: "free" }));
      return measure(surroundings, cells, plan);
    });
    results.push(...rows);
  }
  return results;
}

/** A request without a payment: 402, where the bare framework gives the answer. */
export async function unpaid({ frameworks, libraries, surroundings, plan }) {
  const [{ hit }] = routesOf(1);
  const results = [];
  for (const framework of frameworks) {
    const asked = libraries.filter(always).filter(({ options }) => options?.middleware !== "empty");
    const rows = await withServers(asked, framework, 1, surroundings, (servers) => {
      const cells = servers.map((server) => cellOf({ server, path: hit, routes: 1, kind: "unpaid" }));
      return measure(surroundings, cells, plan);
    });
    results.push(...rows);
  }
  return results;
}

/** The same two requests with many routes in the table. All sizes of one library run side by side, so that they compare. */
export async function routes({ frameworks, libraries, surroundings, plan, sizes }) {
  const results = [];
  const asked = libraries.filter(always).filter(({ app }) => app !== "bare");
  for (const framework of frameworks) {
    for (const library of asked) {
      const servers = [];
      for (const size of sizes) servers.push(await startServer(library, framework, size, surroundings.urls));
      const cells = servers.flatMap((server, i) => [
        cellOf({ server, path: routesOf(sizes[i]).at(-1).hit, routes: sizes[i], kind: "unpaid, last route" }),
        cellOf({ server, path: "/free", routes: sizes[i], kind: "free" }),
      ]);
      results.push(...(await measure(surroundings, cells, plan)));
      for (const server of servers) await server.stop();
    }
  }
  return results;
}

/** A request with a payment of its own each time, in every version that the library takes. */
export async function paid({ frameworks, libraries, surroundings, plan }) {
  const [{ hit }] = routesOf(1);
  const results = [];
  const asked = libraries.filter(({ wires, reference }) => wires.length > 0 || reference);
  for (const framework of frameworks) {
    const rows = await withServers(asked, framework, 1, surroundings, (servers) => {
      const cells = servers.flatMap((server) => {
        if (server.library.reference) return [cellOf({ server, path: hit, routes: 1, kind: "paid" })];
        return server.library.wires.map((version) => cellOf({ server, path: hit, routes: 1, version, kind: "paid" }));
      });
      return measure(surroundings, cells, plan);
    });
    results.push(...rows);
  }
  return results;
}
