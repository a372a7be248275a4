// The seller's colour on the button, with the one of black and white on it that can be read.

/** The rule that sets the button's two colours; nothing where the seller names none. */
export function buttonColors(color: string | undefined): string {
  if (color === undefined) return "";
  const digits = color.length === 4 ? color.replace(/[0-9a-f]/gi, "$&$&") : color;
  return `.tg{--button:${digits};--on-button:${isLight(digits) ? "#000" : "#fff"}}`;
}

/** Is black easier to read on it than white? By the luminance of WCAG 2. */
function isLight(color: string): boolean {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179;
}
