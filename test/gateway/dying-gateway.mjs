// One process of a gateway, for tests: it prints its URL. Options come as JSON; DIES_AT names the point at which it kills itself
// once DIES_WITH requests have come there, and without it the process lives. WATCHES=no leaves the payments of others alone.
import { createGateway, serve } from "tollgate/gateway";
import { createDeath } from "./kill-points.mjs";

const { GATEWAY_OPTIONS, DIES_AT, DIES_WITH, WATCHES } = process.env;
const options = JSON.parse(GATEWAY_OPTIONS);
const death = createDeath(DIES_AT, Number(DIES_WITH));
for (const network of Object.values(options.networks)) network.rpcUrl = await death.passOn(network.rpcUrl);

// Standard output is the test's: what the gateway has to say goes to the other stream.
const say = (level) => (facts, message) => process.stderr.write(`${level} ${message} ${JSON.stringify(facts)}\n`);
const logger = { debug() {}, info: say("info"), warn: say("warn"), error: say("error"), child: () => logger };

const gateway = await createGateway(options, { env: {}, logger, wrap: death.wrap });
if (WATCHES !== "no") gateway.start();
const { url } = await serve(death.around(gateway), { port: 0 });
console.log(url);
