// What an explanation is made of: facts, flaws and notes about one value, collected while it is read. Nothing here holds a
// signature or a secret, and what a stranger wrote is cut short; whoever prints takes its control characters out.
import { isRecord } from "../../wire/json.js";

/** Something that is wrong, and where. */
export interface Flaw {
  readonly place: string;
  readonly expected: string;
  readonly got: string;
}

export interface Fact {
  /** As a program finds it: `payTo`. */
  readonly name: string;
  readonly text: string;
}

export type Kind = "challenge" | "offer" | "payment" | "receipt" | "answer" | "unread";

/** One value, explained. */
export interface Explained {
  readonly kind: Kind;
  /** Where it stood: a header's name, `body`, `text`. */
  readonly where: string;
  readonly version: 1 | 2 | undefined;
  /** One sentence: what it asks or pays. */
  readonly says: string;
  readonly facts: readonly Fact[];
  readonly flaws: readonly Flaw[];
  /** Worth knowing, and no flaw. */
  readonly notes: readonly string[];
  /** The offers of a challenge. */
  readonly offers: readonly Explained[];
}

/** Collects what one value turns out to be. */
export interface Findings {
  fact(name: string, text: string | undefined): void;
  /** The first flaw of a place is the one that is told: what follows from it says nothing new. */
  flaw(place: string, expected: string, got: string | Came): void;
  note(text: string): void;
  hasFlawAt(place: string): boolean;
  /** Flaws so far. */
  readonly count: number;
  /** `offers`: explained by themselves. */
  explained(what: Pick<Explained, "kind" | "version" | "says"> & { readonly offers?: readonly Explained[] }): Explained;
}

export function createFindings(where: string): Findings {
  const facts: Fact[] = [];
  const flaws: Flaw[] = [];
  const notes: string[] = [];
  const hasFlawAt = (place: string) => flaws.some((flaw) => flaw.place === place);
  return {
    fact: (name, text) => void (text !== undefined && facts.push({ name, text })),
    flaw(place, expected, got) {
      if (!hasFlawAt(place)) flaws.push({ place, expected, got: describe(got) });
    },
    note: (text) => void notes.push(text),
    hasFlawAt,
    get count() {
      return flaws.length;
    },
    explained: ({ kind, version, says, offers = [] }) => ({ kind, where, version, says, facts, flaws, notes, offers }),
  };
}

/** A value as it came, for `flaw`: shown as JSON, short. Words of ours are text. */
export interface Came {
  readonly value: unknown;
}
export const came = (value: unknown): Came => ({ value });

const MAX_SHOWN = 100;
/** Longer than any address: where something else belongs it may be a signature, or a signed transaction. */
const OPAQUE = /[A-Za-z0-9+/_-]{45,}={0,2}/g;

function describe(got: string | Came): string {
  if (typeof got === "string") return got;
  const { value } = got;
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return cut(String(value));
  return cut(JSON.stringify(value).replace(OPAQUE, (run) => (/^\d+$/.test(run) ? run : unspoken(run))));
}

function unspoken(run: string): string {
  const isHex = /^(?:0x)?[0-9a-f]+$/i.test(run);
  const alphabet = isHex ? "hex" : /^[1-9A-HJ-NP-Za-km-z]+$/.test(run) ? "base58" : "base64";
  return `(${run.length} characters of ${alphabet}, not shown)`;
}

/** A stranger's text, short. */
export const cut = (text: string, most = MAX_SHOWN): string => (text.length > most ? `${text.slice(0, most)}…` : text);

/** All flaws, those of offers too. */
export const flawsOf = (one: Explained): readonly Flaw[] => [...one.flaws, ...one.offers.flatMap(flawsOf)];

export const textAt = (value: unknown, name: string): string | undefined => {
  const member = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return typeof member === "string" ? member : undefined;
};
