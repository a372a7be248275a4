// What a step of the page comes to: a value, or words for the person that say why not.

export type Result<Value> =
  | { readonly ok: true; readonly value: Value }
  /** `declined`: the person said no. `unclear`: it may have happened all the same. */
  | { readonly ok: false; readonly words: string; readonly kind?: "declined" | "unclear" | "changed" };

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const done = <Value>(value: Value): Result<Value> => ({ ok: true, value });

export const stop = (words: string, kind?: "declined" | "unclear" | "changed"): Result<never> =>
  kind ? { ok: false, words, kind } : { ok: false, words };
