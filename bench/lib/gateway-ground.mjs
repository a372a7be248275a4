// What the measurements of the gateway share: a local chain, the gateway in a process of its own on either database, requests
// as bytes, and payments that are signed before anything is measured.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startPostgres } from "./postgres.mjs";
import { startChild } from "./processes.mjs";

const BUILT = new URL("../../dist/", import.meta.url).href;
/** The build to measure: dist/, or another folder. */
export const distOf = (folder) => (folder === undefined ? BUILT : `${pathToFileURL(folder).href}/`);

/** Opens the chain and the load generator; `stop` ends them. */
export async function startGround(dist) {
  const { createSandbox, eip3009Payer, signPayment } = await import(new URL("src/testing/index.js", dist));
  const [sandbox, load] = await Promise.all([createSandbox(), startChild("load.mjs")]);
  const payer = eip3009Payer(await sandbox.newBuyer(10n ** 18n));
  const payTo = `0x${randomBytes(20).toString("hex")}`;
  const offer = {
    ...{ scheme: "exact", network: "eip155:84532", asset: sandbox.token.address, amount: "10000", payTo },
    ...{ maxTimeoutSeconds: 3_600, extra: { name: sandbox.domain.name, version: sandbox.domain.version } },
  };
  return {
    sandbox,
    load,
    payTo,
    /** The body of one receive, with a payment that nobody has seen. */
    async newReceive() {
      const { value } = await signPayment({ payer, offer, version: 2 });
      return { walletAddress: payTo, paymentProof: value, expectedAmount: "0.01", asset: "USDC" };
    },
    stop: () => Promise.all([sandbox.close(), load.stop()]),
  };
}

/** The gateway on a new database of this kind. */
export async function startGateway(ground, database, dist, execArgv = []) {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-bench-gateway-"));
  const postgres = database === "postgres" ? await startPostgres() : undefined;
  const { rpcUrl, settlerKey } = ground.sandbox;
  const options = {
    database: postgres ? { url: postgres.url } : { file: join(folder, "gateway.db") },
    networks: { "base-sepolia": { rpcUrl, settler: settlerKey } },
    sponsored: { perAccount: 100_000_000, perPayer: 100_000_000 },
  };
  const child = await start({ app: "gateway", dist, options }, execArgv);
  return {
    ...child,
    async stop() {
      await child.stop();
      await postgres?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Hono alone, with these answers. */
export const startBare = (answers, dist) => start({ app: "bare", dist, answers });

async function start(job, execArgv = []) {
  // Its log goes where an operator's would: out of the process.
  const child = await startChild("gateway-server.mjs", {
    args: [JSON.stringify(job)],
    execArgv: ["--expose-gc", ...execArgv],
    quiet: true,
  });
  const { port, key } = child.ready;
  return { port, key, stat: () => child.ask("stat"), collect: () => child.ask("collect"), stop: child.stop };
}

/** The bytes of a request on a connection that stays open. */
export function requestText({ port, key, method = "GET", path, body, headers = {} }) {
  const json = body === undefined ? "" : JSON.stringify(body);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    ...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(json === "" ? [] : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(json)}`]),
  ];
  return `${lines.join("\r\n")}\r\n\r\n${json}`;
}

/** One request, and its answer as JSON. */
export async function ask({ port, key }, method, path, body) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, ...(body && { "Content-Type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}
