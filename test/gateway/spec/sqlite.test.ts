// Every row of the specification, over HTTP, on a gateway whose database is one SQLite file.
import { ALL } from "./all.js";
import { specify } from "./case.js";
import { prepareGround } from "./ground.js";

specify(ALL, prepareGround({ database: "sqlite" }));
