// The word that a handler is out of time, as a signal only for who waits for it: an AbortSignal costs as much as the rest of
// a small answer's way through the gate.

/** Told once, remembered for good. */
export class Stop {
  #controller: AbortController | undefined;
  #aborted = false;

  get aborted(): boolean {
    return this.#aborted;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) this.#controller.abort();
    return this.#controller.signal;
  }

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort();
  }
}
