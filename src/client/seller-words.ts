// A seller's own words, made fit to be shown: one line, short, nothing in it that a terminal or a reader would take for
// something else. They stay untrusted: whoever shows them says whose they are, and nothing is ever decided by them.

const LONGEST = 200;
/** Only so much is looked at, however long the text is. */
const MOST_READ = 4_096;

/** Line breaks and other spaces. */
const SPACES = /[\s\p{Z}]+/gu;
/** Controls, text that turns the reading direction, characters of no width and of no shape, halves of pairs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;
/** Marks piled on one letter, which run over the lines around it. */
const PILED_MARKS = /(\p{M}{2})\p{M}+/gu;

/** All of a text as one printable line, however long. Whoever hides something in a text hides it in this: no more falls out of it. */
export const toLine = (text: string): string =>
  text.replace(SPACES, " ").replace(UNSEEN, "").replace(PILED_MARKS, "$1").replace(SPACES, " ").trim();

/**
 * The words as one printable line of at most 200 characters (or `longest`); undefined where there are none, or no text at all.
 *
 * @example toSellerWords("too\u202e\nlate") // "too late"
 */
export function toSellerWords(text: unknown, longest = LONGEST): string | undefined {
  if (typeof text !== "string") return undefined;
  const line = toLine(text.slice(0, MOST_READ));
  const characters = [...line];
  const shown = characters.length > longest ? `${characters.slice(0, longest - 1).join("")}…` : line;
  return shown === "" ? undefined : shown;
}

const MOST_QUOTED = 60;

/** A value that a seller wrote, for a sentence of ours: text in quotes, of other things their kind. */
export function quote(value: unknown): string {
  if (typeof value === "string") return `"${toSellerWords(value.slice(0, MOST_QUOTED)) ?? ""}"`;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (value === undefined || value === null) return "nothing";
  return Array.isArray(value) ? "a list" : "an object";
}
