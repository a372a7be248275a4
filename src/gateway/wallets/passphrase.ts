// Which passphrases may guard hosted wallets. There is no default, and what everybody would try first is refused: whoever has
// a copy of the database may guess for as long as he likes. Source: faults A42.
import { PaywallConfigError } from "../../errors.js";

const PATH = "TOLLGATE_WALLET_PASSPHRASE";
const SHORTEST = 12;
/** What is left of a well-known passphrase without its digits, signs and capitals. */
const WELL_KNOWN = new Set(
  (
    "password passphrase passwort secret changeme changeit letmein default admin administrator root test testing tmp temp " +
    "example dummy wallet walletpassphrase tollgate tollgatewalletpassphrase yourpassphrase mypassphrase mypassword " +
    "yourpassword qwerty qwertyuiop asdfghjkl iloveyou welcome trustno correcthorsebatterystaple abcdefghijkl " +
    "abcdefghijklmnopqrstuvwxyz"
  ).split(" "),
);

/** One spelling for what looks the same, whichever system it was typed on. */
export const spellPassphrase = (passphrase: string): string => passphrase.normalize("NFKC");

/**
 * @throws PaywallConfigError with one sentence where the passphrase is too short or too well known. It never repeats it.
 */
export function checkPassphrase(passphrase: string, path = PATH): void {
  const spelled = spellPassphrase(passphrase);
  const length = [...spelled].length;
  if (length < SHORTEST) throw refused(path, `expected at least ${SHORTEST} characters, got ${length}`);
  if (isWellKnown(spelled)) {
    throw refused(path, "expected a passphrase that nobody would try first, got a well-known word or pattern");
  }
}

/** A problem of the passphrase, in one sentence with its remedy: a better one, unless the problem has a remedy of its own. */
export const refused = (path: string | undefined, problem: string, remedy = REMEDY): PaywallConfigError =>
  new PaywallConfigError([{ path: path ?? PATH, code: "unsafe", message: `${problem}: ${remedy}` }]);

const REMEDY = "take five random words or more, and keep them outside of the database and its backups";

function isWellKnown(spelled: string): boolean {
  const letters = spelled.toLowerCase().replace(/[^\p{L}]/gu, "");
  if (WELL_KNOWN.has(letters) || WELL_KNOWN.has(halved(letters))) return true;
  return isRepeated(spelled) || isRow(spelled);
}

/** `passwordpassword` is `password`. */
function halved(text: string): string {
  const half = text.slice(0, text.length / 2);
  return half + half === text ? half : text;
}

/** `abcabcabcabc`, `            `. */
const isRepeated = (text: string): boolean => /^(.{1,4})\1+$/su.test(text);

/** `123456789012`, `abcdefghijkl`: each character follows the one before it, the 0 the 9. */
function isRow(text: string): boolean {
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0);
  const follows = (at: number, step: number) => {
    const [before = 0, code = 0] = [codes[at - 1], codes[at]];
    return code - before === step || (before === 57 && code === 48) || (before === 48 && code === 57);
  };
  return [1, -1].some((step) => codes.every((_, at) => at === 0 || follows(at, step)));
}
