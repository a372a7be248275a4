// Every transition of a proof's record and of a pass has a control that breaks it: a patch inside the transition's own lines, or
// inside the lines of the same file that it is made of. A new transition gets a line here and a control.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { root } from "./support/sources.js";

const FENCE = "transitions: who has lost the fence changes nothing";

/** A member of the object that is returned; no call, and nothing that one takes. */
const MEMBER = /^ {4}(?!next\b)(?:async )?(\w+)(?:: \(.*\) =>|\($|\(.*\) \{$)/;

/** By file: how a transition begins there, and the controls (`rule: what is removed`) that break each. */
const FILES: Readonly<
  Record<
    string,
    { readonly begins: RegExp; readonly gives?: RegExp; readonly brokenBy: Record<string, readonly string[]> }
  >
> = {
  // The functions from record to record.
  "src/store/record.ts": {
    begins: /^export (?:const|function) (\w+)(?: = )?\(/,
    gives: /\): ProofRecord (?:=>|\{)/,
    brokenBy: {
      settleLeases: [
        "claim: a claim stands until its lease is out",
        "unknown is never a bill: a settlement whose process died has perhaps settled",
        "transitions: delivering -> none: when the lease is out",
      ],
      claimed: ["fencing: a new claim has a new fence", "uncharged runs limit: a new claim keeps the count"],
      renewed: ["transitions: claimed, delivering: a renewal moves the end of the lease"],
      released: ["transitions: claimed -> released", "uncharged runs limit: a release counts the run"],
      settling: ["transitions: claimed -> settling"],
      reorganised: [
        "reconciler: settled -> settling: the delivery is not touched",
        "reconciler: settled -> settling: one fence for who sends it again",
      ],
      lookedUp: ["transitions: a lookup is written down before it is made"],
      sent: ["transitions: settling: the transaction is written before it leaves"],
      refused: ["transitions: settling -> refused"],
      unknown: [
        "transitions: settling -> unknown",
        "transitions: settling -> unknown: the transaction is not forgotten",
      ],
      expired: ["transitions: unknown -> expired"],
      settled: [
        "transitions: settling -> settled",
        "transitions: settling -> settled: it is watched until it is final",
      ],
      delivering: ["fencing: every delivery has a fence of its own", "three deliveries: a delivery is counted"],
      delivered: ["transitions: delivering -> delivered"],
      undelivered: ["transitions: delivering -> none: at once when the client has gone"],
      withdrawn: ["transitions: delivering -> none: a failed run is no delivery"],
      replayed: ["three deliveries: a replay is counted"],
      unbegun: [
        "three deliveries: what never began is off the list",
        "three deliveries: the next may begin at once",
        "three deliveries: only what never began is taken off",
      ],
      rerun: ["transitions: none -> delivering: another run is for the headers of who collects"],
    },
  },
  // What its holder writes, under his fence, and what is taken or counted anew.
  "src/claims.ts": {
    begins: MEMBER,
    brokenBy: {
      claim: [
        "claim: a claimed proof cannot be claimed again",
        "records outlive their proofs: a claim is for the memory that it was verified for",
      ],
      renew: [
        "fencing: a renewal compares the fence",
        "transitions: claimed, delivering: a lease that is out is not renewed",
      ],
      release: [FENCE],
      settling: [FENCE],
      sent: [FENCE],
      settled: [FENCE],
      refused: [FENCE, "uncharged runs limit: a refused settlement counts against its payer"],
      unknown: [FENCE],
      keep: [FENCE],
      delivered: [FENCE],
      undelivered: [FENCE],
      withdraw: [FENCE],
      redeliver: ["claim: one of several retries takes an undelivered answer"],
      replay: ["three deliveries: the count is read again where the replay is written"],
      unbegun: ["three deliveries: what is taken off is the present one"],
    },
  },
  // What a lookup writes, over the record that was looked at.
  "src/resolutions.ts": {
    begins: MEMBER,
    brokenBy: {
      take: [
        "reconciler: of many lookups at once one is made",
        "transitions: a lookup is taken by who knows the network",
      ],
      resolve: [
        "reconciler: unknown, refused, released -> settled, expired: not over a newer state",
        "reconciler: expired -> only by who was to settle it",
      ],
      confirm: [
        "reconciler: settled -> expired: finality is written over the settlement that was looked at",
        "transitions: settled -> expired: on final evidence",
        "transitions: settled, watched -> settled: where nobody can tell",
        "transitions: unknown, watched -> unknown: it stays watched where nobody can tell",
        "transitions: settled -> settled: elsewhere than it was seen",
      ],
      reorganise: [
        "reconciler: settled -> settling: one of two sends it again",
        "transitions: settled -> settling: not on what was seen before the last time",
      ],
      resettle: [
        "transitions: settling -> settled anew: by the last who sends it again",
        "transitions: settling -> settled anew: not over what a lookup has found elsewhere",
        "transitions: unknown -> settled anew: by who sent it again, after a lookup in vain",
        "reconciler: settling -> unknown when it was not sent again",
      ],
    },
  },
  // What a pass comes to.
  "src/passes.ts": {
    begins: /^export async function (\w+)\(/,
    brokenBy: {
      storePass: ["passes: a new token changes neither uses nor time"],
      takeUse: ["passes: uses are counted", "passes: each use that is taken is written", "passes: a pass ends"],
      giveUseBack: ["passes: what is given back is bounded"],
    },
  },
};

const control = z.object({
  rule: z.string(),
  removes: z.string(),
  edits: z.array(z.object({ file: z.string(), find: z.string() })),
});
const folder = join(root, "test/controls");
const controls = new Map(
  readdirSync(folder)
    .flatMap((name) => z.array(control).parse(JSON.parse(readFileSync(join(folder, name), "utf8"))))
    .map((one) => [`${one.rule}: ${one.removes}`, one.edits]),
);

describe.each(Object.entries(FILES))("%s", (file, { begins, gives = /^/, brokenBy }) => {
  const text = readFileSync(join(root, file), "utf8");
  const lines = text.split("\n");
  const found = new Map(
    lines.flatMap((line, at) => {
      const name = begins.exec(line)?.[1];
      const block = blockAt(lines, at);
      return name !== undefined && gives.test(block) ? [[name, block] as const] : [];
    }),
  );

  it("has no transition without a control", () => {
    expect([...found.keys()].sort()).toEqual(Object.keys(brokenBy).sort());
  });

  it.each(Object.entries(brokenBy))("%s is broken by each of its controls", (name, titles) => {
    const blocks = partsOf(found.get(name) ?? "", blocksIn(lines));
    const elsewhere = titles.filter((title) => {
      const edits = controls.get(title)?.filter((edit) => edit.file === file) ?? [];
      return !edits.some(({ find }) => blocks.some((block) => touches(text, block, find)));
    });
    expect([titles.length > 0, elsewhere]).toEqual([true, []]);
  });
});

/** A declaration as far as its indentation says: the source is formatted. */
function blockAt(lines: readonly string[], at: number): string {
  const indent = (line = "") => line.search(/\S/);
  const own = indent(lines[at]);
  let end = at + 1;
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? "";
    if (line.trim() === "" || indent(line) > own) continue;
    const closes = indent(line) === own && /^\s*[)}\]]/.test(line);
    if (closes) end += 1;
    if (!closes || !/([({]|=>)$/.test(line)) break;
    // The end of its parameters: the body comes now.
    end -= 1;
  }
  return lines.slice(at, end).join("\n");
}

/** Functions and constants of a file by name, those inside of another one too. */
const blocksIn = (lines: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    lines.flatMap((line, at) => {
      const name = /^ {0,2}(?:export )?(?:async )?(?:function|const) (\w+)/.exec(line)?.[1];
      return name === undefined ? [] : [[name, blockAt(lines, at)] as const];
    }),
  );

/** A block and those of the same file that it names, and they name. */
function partsOf(block: string, known: ReadonlyMap<string, string>): readonly string[] {
  const parts = new Set([block]);
  for (const part of parts) {
    for (const [name, other] of known) {
      const isNamed = new RegExp(`(?<![.\\w])${name}\\b`).test(part);
      if (isNamed && !other.includes(block)) parts.add(other);
    }
  }
  return [...parts];
}

function touches(text: string, block: string, find: string): boolean {
  const [from, at] = [text.indexOf(block), text.indexOf(find)];
  return at >= 0 && at < from + block.length && at + find.length > from;
}
