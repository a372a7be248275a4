// Cloudflare's runtime itself, serving one bundled module: no Node in it, outgoing connections to this machine allowed.
// Nothing outlives the test that started it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import * as z from "zod";
import type { Bundle } from "./bundle.js";

export interface RunningWorker {
  readonly url: string;
  /** Everything that the worker and the runtime have printed. */
  output(): string;
  stop(): Promise<void>;
}

// The package tells where its program is, and has no types.
const { default: workerd } = z.object({ default: z.string() }).parse(createRequire(import.meta.url)("workerd"));
const listening = z.object({ event: z.literal("listen"), port: z.number() });
/** A date after which no behaviour changes under the tests; without the flag nodejs_compat. */
const COMPATIBILITY_DATE = "2026-01-01";

/** Serves the bundle's default export with text bindings as its `env`; rejects with all it printed when it does not start. */
export async function startWorkerd(
  bundle: Bundle,
  bindings: Readonly<Record<string, string>> = {},
): Promise<RunningWorker> {
  const config = join(bundle.folder, "config.capnp");
  writeFileSync(config, configOf(bundle, bindings));
  const child = spawn(workerd, ["serve", config, "--control-fd=3", "--verbose"], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    env: {},
  });
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk));
  child.stderr?.on("data", (chunk: Buffer) => (output += chunk));
  const exited = once(child, "exit");
  const control = child.stdio[3];
  if (!control || !("read" in control)) throw new Error("workerd has no control channel");
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: control }).once("line", resolve);
    exited.then(([code]) => reject(new Error(`workerd ended with ${code}:\n${output}`)), reject);
  });
  return {
    url: `http://127.0.0.1:${listening.parse(JSON.parse(line)).port}`,
    output: () => output,
    async stop() {
      child.kill();
      await exited;
    },
  };
}

/** Every file of the bundle is a module by its name, the entry first: that one is the worker. */
function configOf({ folder, entry }: Bundle, bindings: Readonly<Record<string, string>>): string {
  const names = readdirSync(folder).filter((name) => name.endsWith(".js"));
  const ordered = [basename(entry), ...names.filter((name) => name !== basename(entry))];
  const modules = ordered.map((name) => `(name = "${name}", esModule = embed "${name}")`);
  const values = Object.entries(bindings).map(([name, text]) => `(name = "${name}", text = ${JSON.stringify(text)})`);
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "shop", worker = (
      modules = [${modules.join(", ")}],
      bindings = [${values.join(", ")}],
      compatibilityDate = "${COMPATIBILITY_DATE}",
      globalOutbound = "outside",
    )),
    (name = "outside", network = (allow = ["private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "shop")],
);
`;
}
