// The child processes of the benchmark: servers, stubs and the load generator. Each is forked, announces itself with one
// message and answers questions by id.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const START_MS = 120_000;

/** Starts a module of this folder as a child; resolves with its first message. */
export async function startChild(module, { args = [], execArgv = [], env = {}, quiet = false } = {}) {
  const child = fork(fileURLToPath(new URL(module, import.meta.url)), args, {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    execArgv,
    env: { ...process.env, NODE_ENV: "production", ...env },
    stdio: ["ignore", quiet ? "ignore" : "inherit", "inherit", "ipc"],
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const waiting = new Map();
  const first = new Promise((resolve) => child.once("message", resolve));
  const gone = exited.then((code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${module} ended with code ${code}`));
    throw new Error(`${module} ${args.join(" ").slice(0, 80)} ended with code ${code}`);
  });
  gone.catch(() => undefined);
  const late = new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`${module} did not start in time`)), START_MS).unref();
  });
  const ready = await Promise.race([first, gone, late]);
  child.on("message", (message) => {
    const asked = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.failed === undefined) asked?.resolve(message);
    else asked?.reject(new Error(message.failed));
  });
  let id = 0;
  return {
    ready,
    ask(kind, facts = {}) {
      return new Promise((resolve, reject) => {
        waiting.set(++id, { resolve, reject });
        child.send({ id, kind, ...facts });
      });
    },
    async stop() {
      child.send({ kind: "quit" });
      await exited;
    },
  };
}

/** The stub facilitator, the stub chain and the load generator, which every part needs. */
export async function startSurroundings() {
  const [facilitator, chain, load] = await Promise.all([
    startChild("facilitator.mjs"),
    startChild("chain.mjs"),
    startChild("load.mjs"),
  ]);
  const urls = {
    facilitatorUrl: `http://127.0.0.1:${facilitator.ready.port}`,
    rpcUrl: `http://127.0.0.1:${chain.ready.port}`,
  };
  return {
    urls,
    load,
    facilitator,
    chain,
    stop: () => Promise.all([facilitator, chain, load].map((child) => child.stop())),
  };
}

/** Starts one library as a server. `more`: options of the server itself (a stream, a large body). */
export async function startServer(library, framework, routes, urls, { more = {}, execArgv = [] } = {}) {
  const job = { app: library.app, framework, routes, ...urls, options: { ...library.options, ...more } };
  const child = await startChild("server.mjs", {
    args: [JSON.stringify(job)],
    execArgv: ["--expose-gc", ...execArgv],
    env: library.env ?? {},
    quiet: true,
  });
  return {
    library,
    framework,
    port: child.ready.port,
    stop: child.stop,
    stat: () => child.ask("stat"),
    collect: () => child.ask("collect"),
  };
}
