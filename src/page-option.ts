// What a seller may say about the page that a person sees: a brand, a page of his own, or none at all.
import type { PageFacts } from "./html/page-data.js";

/** The seller's name, picture and colour on the page. */
export interface PageBrand {
  readonly name?: string | undefined;
  /** An https URL, which the reader's browser then asks for the picture, or a `data:image/…` URL, for which it asks nobody. */
  readonly logo?: string | undefined;
  /** `#rgb` or `#rrggbb`. */
  readonly color?: string | undefined;
}

/** A page of the seller's own: a whole HTML document. */
export type OwnPage = (facts: PageFacts) => string;

export type PageOption = PageBrand | OwnPage | false;

/** What the members are, for the words of an option error. */
export const PAGE_FORMS =
  "name is text of at most 80 characters, logo an https or data:image URL, color a hex colour such as #0a7d55";

/** Is this what the option `page` can be? */
export function isPageOption(value: unknown): value is PageOption {
  if (value === false || typeof value === "function") return true;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { name, logo, color, ...others } = value as Readonly<Record<string, unknown>>;
  return (
    Object.keys(others).length === 0 &&
    (name === undefined || (typeof name === "string" && /^\P{Cc}{1,80}$/u.test(name))) &&
    (logo === undefined || (typeof logo === "string" && isLogo(logo))) &&
    (color === undefined || (typeof color === "string" && /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(color)))
  );
}

/** 64 KiB of a picture inside the page, or an address of a picture. */
function isLogo(logo: string): boolean {
  if (/^data:image\/[a-z+.-]{2,20};base64,[A-Za-z0-9+/]{4,87384}={0,2}$/.test(logo)) return true;
  return /^https:\/\/[^\s"'<>;,\\]{1,2000}$/i.test(logo) && URL.canParse(logo);
}
