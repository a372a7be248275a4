// Every row of the specification, over HTTP, on a gateway whose database is a real PostgreSQL.
import { describe } from "vitest";
import { noPostgres } from "../../support/postgres.js";
import { ALL } from "./all.js";
import { specify } from "./case.js";
import { prepareGround } from "./ground.js";

const absent = noPostgres() !== undefined;
describe.skipIf(absent)("on PostgreSQL", () => specify(ALL, prepareGround({ database: "postgres", skip: absent })));
