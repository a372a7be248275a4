// `tollgate doctor`: checks a seller's or a gateway's configuration against the live chain and says what to mend. It changes
// nothing: no payment, no migration, no file.
import { defineCommand, type OptionSpecs, type Values } from "./command.js";
import { type Config, readConfig } from "./doctor/config-file.js";
import { whoIsMeant } from "./doctor/meant.js";
import { isBad, printRows, type Row } from "./doctor/rows.js";
import { checkSeller } from "./doctor/seller.js";
import { within } from "./doctor/within.js";
import { countWrong } from "./explain/words.js";
import { CliError } from "./io.js";
import { requirePeers } from "./peers.js";
import { DATABASE_OPTIONS, JSON_OPTION, overlay, readSettings } from "./settings.js";

/** Whatever a module exports may never answer. */
const MODULE_MS = 120_000;

const options = {
  seller: { type: "boolean", description: "It is the configuration of a paywall" },
  gateway: { type: "boolean", description: "It is the configuration of a gateway" },
  database: DATABASE_OPTIONS.database,
  ...JSON_OPTION,
} as const satisfies OptionSpecs;

export const doctor = defineCommand({
  name: "doctor",
  summary: "Check the configuration of a seller or a gateway against the live chain, and say what to mend",
  operands: ["[CONFIG]"],
  details: [
    "It reads the environment as the server does: run it where the server runs, with the server's environment.",
    "CONFIG adds to that: a file of NAME=value lines (.env), options as JSON (for a paywall with price or routes), or a module",
    'that exports them as "options", or what paywall() returns as "paywall".',
    "Seller: chain, nodes, clock, token code, decimals and domain, payTo's token account, settler's gas, store, Redis, public URL.",
    "Gateway: the same of each network and token, the database and its version, the wallet passphrase, Redis, public URL.",
    "Nothing is changed anywhere: no payment, no migration, no file.",
  ],
  options,
  exitCodes: [
    ["0", "everything is right"],
    ["1", "something is wrong or not reachable"],
    ["2", "the configuration cannot be read (all problems are listed), or the command line is wrong"],
  ],
  examples: ["tollgate doctor", "tollgate doctor .env --seller", "tollgate doctor gateway.json --json"],
  async run(values, io, [file]) {
    const config = await readConfig(file, io);
    const meant = whoIsMeant(values, config);
    const checked = meant === "seller" ? checkSeller(config) : examineGateway(config, values);
    const rows = await (config.failed ? Promise.race([within(checked, MODULE_MS), config.failed]) : checked);
    printRows(io, values.json, meant, rows);
    const count = rows.filter(isBad).length;
    if (count > 0) throw new CliError(`${countWrong(count)}.`);
  },
});

async function examineGateway({ env, jsonFile }: Config, values: Values<typeof options>): Promise<Row[]> {
  const own = { ...env, ...(jsonFile !== undefined && { TOLLGATE_CONFIG: jsonFile }) };
  const { json, seller, gateway, ...written } = values;
  const settings = readSettings(own, written, options, { networks: "required" });
  await requirePeers("gateway", settings);
  // Loaded only now, because all of its packages are optional.
  const { checkGateway } = await import("./doctor/gateway.js");
  return checkGateway(settings, overlay(own, written, options));
}
