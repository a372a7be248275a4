// Addresses of a request, told to be the same in whatever spelling.
import { checksumAddress } from "../../networks.js";

/** Are these two spellings of one address? */
export const sameAddress = (a: string, b: string): boolean =>
  a === b || (isEvm(a) && isEvm(b) && checksumAddress(a) === checksumAddress(b));

const isEvm = (address: string): boolean => /^0x[0-9a-fA-F]{40}$/.test(address);
