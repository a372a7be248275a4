// A Postgres for one run, with the settings that it has by default: what is written is on the disk before it is confirmed.
import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = "/usr/lib/postgresql";
const START_MS = 30_000;

/** The folder of its programs; undefined where it is not installed. */
export function findPostgres() {
  if (!existsSync(ROOT)) return undefined;
  const [latest] = readdirSync(ROOT).sort((a, b) => Number(b) - Number(a));
  const bin = join(ROOT, latest ?? "", "bin");
  return existsSync(join(bin, "postgres")) ? bin : undefined;
}

export async function startPostgres() {
  const bin = findPostgres();
  if (bin === undefined) throw new Error("PostgreSQL is not installed: leave it out with --databases sqlite");
  const folder = mkdtempSync(join(tmpdir(), "tollgate-bench-postgres-"));
  // It refuses to run as root.
  const ids = process.getuid?.() === 0 ? idsOf("postgres") : {};
  if (ids.uid !== undefined) chownSync(folder, ids.uid, ids.gid);
  const data = join(folder, "data");
  const how = { ...ids, cwd: folder };
  execFileSync(join(bin, "initdb"), ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale", "C"], {
    ...how,
    stdio: "pipe",
  });
  const port = await freePort();
  const args = ["-D", data, "-p", String(port), "-k", folder, "-c", "listen_addresses=127.0.0.1"];
  const child = spawn(join(bin, "postgres"), args, { ...how, stdio: ["ignore", "ignore", "pipe"] });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const end = () => child.kill("SIGQUIT");
  process.on("exit", end);
  await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("Postgres did not start in time")), START_MS);
    child.stderr.on("data", (chunk) => {
      if (!String(chunk).includes("ready to accept connections")) return;
      clearTimeout(late);
      resolve();
    });
    void exited.then(() => reject(new Error("Postgres ended while it was starting")));
  });
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      end();
      await exited;
      process.off("exit", end);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const idOf = (flag, user) => Number(execFileSync("id", [flag, user], { encoding: "utf8" }));
const idsOf = (user) => ({ uid: idOf("-u", user), gid: idOf("-g", user) });

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
