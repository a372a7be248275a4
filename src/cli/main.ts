#!/usr/bin/env node
// The `tollgate` command.
import { processIo } from "./io.js";
import { runCli } from "./run.js";

// Whoever reads the output may have seen enough (`| head`): that is no failure of the command.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

process.exitCode = await runCli(process.argv.slice(2), processIo());
