// Spellings of priced paths that somebody might take for the path itself, each labelled with the kinds of change in it.
import fc from "fast-check";

const GLUE = {
  encodedSlash: ["%2F", "%2f", "%252F", "%2F/", "/%2f"],
  backslash: ["\\", "%5C", "%5c", "%5c../", "\\\\", "/%5C"],
  slashes: ["//", "///", "////"],
  dots: ["/./", "/x/../", "/%2e/", "/x/%2E%2e/", "/x/.%2e/", "/.../", "/../"],
  semicolon: [";a=1/", "/.;/", "/;/", ";/", "/..;/"],
} as const;
const TAILS = [
  ...[
    "/",
    "//",
    "/.",
    "/x/..",
    "?q=/docs/x",
    "#f",
    ";v=1",
    "%20",
    "%",
    "%zz",
    "%c0",
    "%E0%A4%A",
    "%09",
    "\t",
    "\u00a0",
    "\f",
  ],
  ...["%00", "?", "\\", "%2f", ".json", "%3f", "%23", "/..;/", "?/../docs/x", "#/docs/x"],
];
const HEADS = ["/", "//", "/.", "/x/..", "/docs/..", "/docs/%2e%2e", "/docs/..%2f", "\\", "/docs/;/..", "/docs//.."];
const ABSOLUTE = [
  "http://localhost",
  "http://h:80",
  "HTTP://H",
  "//h",
  "https://h",
  "http://u@h",
  "http://h:",
  "http://[::1]",
];

/** The kinds of change. */
export const KINDS = [
  ...[
    "case",
    "escape",
    "double",
    "encodedSlash",
    "backslash",
    "slashes",
    "dots",
    "semicolon",
    "tail",
    "head",
    "absolute",
  ],
] as const;
export type Kind = "case" | "escape" | "double" | keyof typeof GLUE | "tail" | "head" | "absolute";
const ALL = KINDS as readonly Kind[];

interface Change {
  readonly kind: Kind;
  readonly at: number;
  readonly pick: number;
}

export interface Variant {
  readonly target: string;
  readonly kinds: ReadonlySet<Kind>;
}

const of = <T>(list: readonly T[], pick: number): T => list[pick % list.length] as T;

function applyChange(path: string, { kind, at, pick }: Change): string {
  // The slash in front stays, or nothing would be a target any more.
  const i = path.length < 2 ? 0 : 1 + (at % (path.length - 1));
  const character = path[i] ?? "";
  const swap = (text: string): string => path.slice(0, i) + text + path.slice(i + 1);
  const hex = character.charCodeAt(0).toString(16).padStart(2, "0");
  switch (kind) {
    case "case":
      return swap(character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase());
    case "escape":
      return character > "\x7f" ? path : swap(`%${pick % 2 ? hex : hex.toUpperCase()}`);
    case "double":
      return character > "\x7f" ? path : swap(`%25${hex}`);
    case "tail":
      return path + of(TAILS, pick);
    case "head":
      return of(HEADS, pick) + path;
    case "absolute":
      return of(ABSOLUTE, pick) + path;
    default: {
      const slashes = [...path.matchAll(/\//g)].map((found) => found.index);
      const slash = of(slashes, at) ?? 0;
      const glue = of<string>(GLUE[kind], pick);
      // In front of everything only what still begins with a slash is a path.
      const text = slash === 0 && !glue.startsWith("/") ? `/${glue}` : glue;
      return path.slice(0, slash) + text + path.slice(slash + 1);
    }
  }
}

const changeOf = (kind: fc.Arbitrary<Kind>): fc.Arbitrary<Change> =>
  fc.record({ kind, at: fc.nat(60), pick: fc.nat(1000) });

/** Half of them with one kind of change, so that each kind is seen alone; half with up to five of any. */
export function pathVariants(paths: readonly string[], count: number, seed: number): Variant[] {
  const alone = fc
    .constantFrom(...ALL)
    .chain((kind) => fc.array(changeOf(fc.constant(kind)), { minLength: 1, maxLength: 2 }));
  const mixed = fc.array(changeOf(fc.constantFrom(...ALL)), { minLength: 0, maxLength: 5 });
  const variant = fc.tuple(fc.constantFrom(...paths), fc.oneof(alone, mixed)).map(([path, changes]) => ({
    target: changes.reduce(applyChange, path),
    kinds: new Set(changes.map(({ kind }) => kind)),
  }));
  // No bias towards small numbers: every place of a path is as likely as any other.
  return fc.sample(fc.noBias(variant), { seed, numRuns: count });
}
