// Every case of the specification.
import type { SpecCase } from "./case.js";
import { SEND_CASES } from "./send-cases.js";

export const ALL: readonly SpecCase[] = [...SEND_CASES];
