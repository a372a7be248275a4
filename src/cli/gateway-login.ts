// `tollgate gateway login`: a link that signs in to the dashboard, once.
import { createLink } from "../gateway/dashboard/link.js";
import { placeOf } from "../gateway/dashboard/place.js";
import { defineCommand } from "./command.js";
import { ACCOUNT_OPTION, findAccount, type Opened, withDatabase } from "./database.js";
import { CliError } from "./io.js";
import { printResult } from "./print.js";
import { DATABASE_OPTIONS, JSON_OPTION } from "./settings.js";

const options = {
  ...ACCOUNT_OPTION,
  port: { type: "string", value: "N", description: "That of the gateway, 4020 by default", env: "TOLLGATE_PORT" },
  "public-url": { type: "string", value: "URL", description: "That of the gateway", env: "TOLLGATE_PUBLIC_URL" },
  ...DATABASE_OPTIONS,
  ...JSON_OPTION,
} as const;

export const gatewayLogin = defineCommand({
  name: "gateway login",
  summary: "Print a link that signs in to the dashboard",
  details: [
    "The link is good for ten minutes, once, and for the account that it was made for. Whoever has it is signed in.",
    "It is for the gateway of the same settings: port and public URL must be those that the gateway runs with.",
  ],
  options,
  examples: ["tollgate gateway login", "tollgate gateway login --account shop --public-url https://pay.example"],
  async run(values, io) {
    const make = async ({ settings, database }: Opened) => {
      if (!settings.dashboard) throw new CliError("The dashboard is switched off: TOLLGATE_DASHBOARD=off");
      const account = await findAccount(database, values.account);
      return { account: account.id, link: await createLink(database, account.id, placeOf(settings).url) };
    };
    const made = await withDatabase(io, values, options, make);
    printResult(io, values.json, made, made.link);
    io.stderr.write("Open it in a browser within ten minutes. It signs in once.\n");
  },
});
