// Sockets that have not said yet who they are: bounded in all and for each address, so that nobody fills a gateway with them.

export interface Waiting {
  /** Returns what ends it. */
  add(address: string): () => void;
  count(address: string): { readonly own: number; readonly all: number };
}

export function createWaiting(): Waiting {
  const counts = new Map<string, number>();
  let all = 0;
  return {
    add(address) {
      counts.set(address, (counts.get(address) ?? 0) + 1);
      all += 1;
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        all -= 1;
        const left = (counts.get(address) ?? 1) - 1;
        if (left === 0) counts.delete(address);
        else counts.set(address, left);
      };
    },
    count: (address) => ({ own: counts.get(address) ?? 0, all }),
  };
}
