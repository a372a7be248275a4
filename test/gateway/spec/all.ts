// Every case of the specification.
import { AUTHENTICATION_CASES } from "./authentication-cases.js";
import type { SpecCase } from "./case.js";
import { ENDPOINT_CASES } from "./endpoint-cases.js";
import { ERROR_CASES } from "./error-cases.js";
import { LIMIT_CASES } from "./limit-cases.js";
import { RECEIVE_CASES } from "./receive-cases.js";
import { RECORD_CASES } from "./records-cases.js";
import { SEND_CASES } from "./send-cases.js";

export const ALL: readonly SpecCase[] = [
  ...SEND_CASES,
  ...RECEIVE_CASES,
  ...RECORD_CASES,
  ...ENDPOINT_CASES,
  ...AUTHENTICATION_CASES,
  ...ERROR_CASES,
  ...LIMIT_CASES,
];
