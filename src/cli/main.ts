#!/usr/bin/env node
// The `tollgate` command.
import { processIo } from "./io.js";
import { runCli } from "./run.js";

// Whoever reads the output may have seen enough (`| head`), or be gone before a gateway stops: that is no failure of the command,
// and no reason to end it in the middle of a shutdown.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

const io = processIo();
process.exitCode = await runCli(process.argv.slice(2), io);
// A timer or a server of somebody else's module would keep the process for good.
if (io.hasForeign) {
  const written = [io.stdout, io.stderr].map((stream) => new Promise<void>((done) => stream.write("", () => done())));
  await Promise.all(written);
  process.exit();
}
