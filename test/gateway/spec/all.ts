// Every case of the specification.
import type { SpecCase } from "./case.js";
import { RECEIVE_CASES } from "./receive-cases.js";
import { RECORD_CASES } from "./records-cases.js";
import { SEND_CASES } from "./send-cases.js";

export const ALL: readonly SpecCase[] = [...SEND_CASES, ...RECEIVE_CASES, ...RECORD_CASES];
