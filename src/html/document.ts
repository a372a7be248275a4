// The page around the card, where the seller brings none of his own.
import type { PageBrand } from "../page-option.js";
import { escapeHtml } from "./escape.js";
import type { PageData } from "./page-data.js";

export function renderDocument({ url, description, offers }: PageData, { name }: PageBrand, card: string): string {
  const seller = name ?? new URL(url).host;
  const [first] = offers;
  const price = first ? ` · ${first.dollars ?? first.price}` : "";
  const title = `${description || seller}${price}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
</head>
<body>
<main>
${card}
</main>
</body>
</html>
`;
}
