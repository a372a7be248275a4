// A download costs no more memory than a small answer, however large it is and however slowly it is read.
// 192 MiB in CI, 2 GiB by `FULL=1`; server and clients are this one process, so both are in the figures.
import { createReadStream } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { FRAMEWORKS, type Framework, type Running } from "./frameworks.js";
import { createScript } from "./script.js";
import { sparseFile, toWeb } from "./stream-styles.js";
import type { Style } from "./styles.js";

const MB = 1024 * 1024;
const BYTES = (process.env.FULL ? 2048 : 192) * MB;
const CLIENTS = 4;

const running: Running[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

const fileStyle = (path: string): Style => ({
  name: "file",
  status: 200,
  body: "",
  express: (_, res) => res.sendFile(path),
  hono: (c) => c.body(toWeb(createReadStream(path)), 200, { "Content-Length": String(BYTES) }),
});

async function serve(framework: Framework, style: Style): Promise<number> {
  // Each request has a capture of its own, as in life.
  const server = await framework.start({ guard: (request) => createScript().guard(request), style });
  running.push(server);
  return server.port;
}

/** Reads an answer to its end and forgets it; what it was long. */
function download(port: number, each: () => void): Promise<number> {
  return new Promise((resolve, reject) => {
    get({ port, path: "/paid", agent: false }, (answer: IncomingMessage) => {
      let bytes = 0;
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        each();
      });
      answer.on("end", () => resolve(bytes));
      answer.on("error", reject);
    }).on("error", reject);
  });
}

/** The most that the process grew while `run` ran. */
async function growth(run: (look: () => void) => Promise<void>): Promise<number> {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  let most = before;
  await run(() => {
    most = Math.max(most, process.memoryUsage.rss());
  });
  return (most - before) / MB;
}

describe.each(FRAMEWORKS)("$name", (framework) => {
  it(`grows by less than 100 MB while ${CLIENTS} clients download ${BYTES / MB} MB each`, async () => {
    const file = sparseFile(BYTES);
    try {
      const port = await serve(framework, fileStyle(file.path));
      const grown = await growth(async (look) => {
        let chunks = 0;
        const each = () => {
          chunks += 1;
          if (chunks % 64 === 0) look();
        };
        const all = await Promise.all(Array.from({ length: CLIENTS }, () => download(port, each)));
        expect(all).toEqual(Array.from({ length: CLIENTS }, () => BYTES));
      });
      if (process.env.FULL) process.stdout.write(`${framework.name}: ${grown.toFixed(1)} MB\n`);
      expect(grown).toBeLessThan(100);
    } finally {
      file.remove();
    }
  }, 600_000);

  it("makes no copy of a 64 MB answer that it is given in one piece", async () => {
    const bytes = 64 * MB;
    const style: Style = {
      name: "one piece",
      status: 200,
      body: "",
      express: (_, res) => void res.type("bin").send(Buffer.alloc(bytes, 1)),
      hono: (c) => c.body(new Uint8Array(bytes).fill(1), 200),
    };
    const plain: Framework["start"] = (site) => framework.start({ ...site, plain: true });
    const port = await serve({ ...framework, start: plain }, style);
    const before = process.memoryUsage().arrayBuffers;
    let first: number | undefined;
    const each = () => {
      first ??= process.memoryUsage().arrayBuffers;
    };
    expect(await download(port, each)).toBe(bytes);
    expect(((first ?? 0) - before) / MB).toBeLessThan(68);
  });
});
