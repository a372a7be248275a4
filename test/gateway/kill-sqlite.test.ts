// A gateway on SQLite that is killed with SIGKILL at every point of its payments. Needs a build.
import { describeKills } from "./kill-cases.js";

describeKills("sqlite");
