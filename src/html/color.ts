// The seller's colour on the button, with the one of black and white on it that can be read.

/** The rule that sets the button's two colours; nothing where the seller names none. */
export function buttonColors(color: string | undefined): string {
  if (color === undefined) return "";
  const digits = color.length === 4 ? color.replace(/[0-9a-f]/gi, "$&$&") : color;
  const light = luminance(digits);
  const rules = `.tg{--button:${digits};--on-button:${light > 0.179 ? "#000" : "#fff"};--edge:${light > 0.6 ? EDGE : digits};--accent:var(--ink)}`;
  return light < 0.05 ? `${rules}@media(prefers-color-scheme:dark){.tg{--edge:${EDGE}}}` : rules;
}

/** Around a button that can hardly be told from the card: it stands out of the light one and of the dark one. */
const EDGE = "#7d8781";

/** By WCAG 2: above 0.179 black is easier to read on it than white. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
