// The gateway's database in a SQLite file, on two connections as two processes have them.
import { describeDatabase } from "./all.js";
import { sqliteGround } from "./ground.js";

describeDatabase("SQLite", sqliteGround);
