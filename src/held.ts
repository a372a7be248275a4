// Memory for held answers: a cap for each and one for all together. What is over a cap is no longer held but streamed.

/** 1 MiB for one answer. */
export const MAX_HELD_BYTES = 1024 * 1024;
/** 128 MiB for all held answers of the process's paywalls. */
const MAX_ALL_BYTES = 128 * 1024 * 1024;

export interface HeldBytes {
  /** The account of one answer. */
  open(): HeldAccount;
}

export interface HeldAccount {
  /** False = over one of the caps; the bytes are not counted. */
  add(bytes: number): boolean;
  /** Gives all of it back; further calls do nothing. */
  close(): void;
}

export function createHeldBytes(maxOne = MAX_HELD_BYTES, maxAll = MAX_ALL_BYTES): HeldBytes {
  let all = 0;
  return {
    open() {
      let one = 0;
      return {
        add(bytes) {
          if (one + bytes > maxOne || all + bytes > maxAll) return false;
          one += bytes;
          all += bytes;
          return true;
        },
        close() {
          all -= one;
          one = 0;
        },
      };
    },
  };
}
