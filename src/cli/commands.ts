// Every command, in the order in which help lists them.
import { accountsCreate, accountsList } from "./accounts.js";
import { backup } from "./backup.js";
import type { Command } from "./command.js";
import { doctor } from "./doctor.js";
import { explain } from "./explain.js";
import { gateway } from "./gateway.js";
import { gatewayLogin } from "./gateway-login.js";
import { keysCreate, keysList, keysRevoke } from "./keys.js";
import { walletsCreate, walletsImport, walletsRotatePassphrase } from "./lodge-wallet.js";
import { pay } from "./pay.js";
import { walletsLimit, walletsList, walletsRemove } from "./wallets.js";

export const COMMANDS: readonly Command[] = [
  pay,
  explain,
  doctor,
  gatewayLogin,
  gateway,
  accountsCreate,
  accountsList,
  keysCreate,
  keysList,
  keysRevoke,
  walletsCreate,
  walletsImport,
  walletsList,
  walletsLimit,
  walletsRemove,
  walletsRotatePassphrase,
  backup,
];
