// One process of a gateway whose memory a test measures: at SIGUSR2 it prints what it holds, after everything that can be
// collected was. Needs --expose-gc.
import { createGateway, serve } from "tollgate/gateway";

const silent = () => {};
const logger = { debug: silent, info: silent, warn: silent, error: silent, child: () => logger };
const gateway = await createGateway(JSON.parse(process.env.GATEWAY_OPTIONS), { env: {}, logger });
const { url } = await serve(gateway, { port: 0 });
process.on("SIGUSR2", () => {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  console.log(`held ${heapUsed + external}`);
});
console.log(url);
