// The whole contract of the gateway's database, for each kind of database to run.
import { describeAccounts, describeKeys, describeWallets } from "./contract-accounts.js";
import { describeDashboard } from "./contract-dashboard.js";
import { describeEvents, describeHistory } from "./contract-events.js";
import { describeLimits, describeSponsored } from "./contract-money.js";
import { describeNonces } from "./contract-nonces.js";
import { describePayments } from "./contract-payments.js";
import { describeRequests } from "./contract-requests.js";
import type { MakeGround } from "./ground.js";

export function describeDatabase(name: string, make: MakeGround): void {
  describePayments(name, make);
  describeLimits(name, make);
  describeNonces(name, make);
  describeSponsored(name, make);
  describeAccounts(name, make);
  describeKeys(name, make);
  describeWallets(name, make);
  describeRequests(name, make);
  describeEvents(name, make);
  describeHistory(name, make);
  describeDashboard(name, make);
}
