// The name that was probably meant, where a name is known nowhere.

/** The known name that `name` was probably meant to be. */
export function nearest(name: string, known: readonly string[], farthest = 3): string | undefined {
  let best: string | undefined;
  let least = Math.min(farthest, Math.ceil(name.length / 2)) + 1;
  for (const candidate of known) {
    const edits = distance(name.toLowerCase(), candidate.toLowerCase());
    if (edits < least) [best, least] = [candidate, edits];
  }
  return best;
}

/** ` — did you mean "x"?`, or the list of what is known. */
export function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === undefined ? `known: ${known.join(", ")}` : `did you mean "${near}"?`;
}

/** Insertions, deletions and replacements between two short texts. */
function distance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, previous[j]! + 1, row[j - 1]! + 1));
    }
    previous = row;
  }
  return previous[b.length]!;
}
