// How this folder speaks of the fields of a request.
import { checksumAddress } from "../../networks.js";
import { type Fault, fault } from "../errors.js";

/** A field that is wrong, named in the details. */
export const invalidField = (path: string, message: string): Fault =>
  fault("INVALID_REQUEST", `${path}: ${message}`, { details: [{ path, message }] });

/** Are these two spellings of one address? */
export const sameAddress = (a: string, b: string): boolean =>
  a === b || (isEvm(a) && isEvm(b) && checksumAddress(a) === checksumAddress(b));

const isEvm = (address: string): boolean => /^0x[0-9a-fA-F]{40}$/.test(address);
