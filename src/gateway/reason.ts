// What an error says, for the log: its own words, without whatever may be a key.
import { hideKeys } from "../secret.js";

export const reasonOf = (error: unknown): string => hideKeys(error instanceof Error ? error.message : String(error));
