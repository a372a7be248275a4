// The page on a phone: its address as a code to scan, and links that open it in the browser of a wallet.
import { encode } from "uqr";
import type { PageData } from "../page-data.js";

const SVG = "http://www.w3.org/2000/svg";

export function showPhone({ offers }: PageData, open: boolean): void {
  const box = document.getElementById("tg-phone");
  const [code, links] = [document.getElementById("tg-qr"), document.getElementById("tg-links")];
  if (!(box instanceof HTMLDetailsElement) || !code || !links) return;
  if (open) box.open = true;
  if (code.childElementCount > 0) return;
  // A very long address has no code that a camera could read.
  if (location.href.length < 600) code.append(draw(location.href));
  const families = new Set(offers.map(({ given }) => given.network.split(":", 1)[0]));
  links.replaceChildren(...linksOf(families).map(toItem));
}

function draw(text: string): SVGSVGElement {
  const { size, data } = encode(text, { ecc: "L", border: 3 });
  let path = "";
  for (const [y, row] of data.entries()) for (const [x, dark] of row.entries()) if (dark) path += `M${x} ${y}h1v1h-1z`;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "The address of this page as a QR code");
  const paper = document.createElementNS(SVG, "rect");
  for (const [name, value] of [
    ["width", size],
    ["height", size],
    ["fill", "#fff"],
  ] as const)
    paper.setAttribute(name, String(value));
  const ink = document.createElementNS(SVG, "path");
  ink.setAttribute("d", path);
  svg.append(paper, ink);
  return svg;
}

/** As their makers document them. */
function linksOf(families: ReadonlySet<string | undefined>): readonly (readonly [name: string, href: string])[] {
  const { href, origin } = location;
  const [url, ref] = [encodeURIComponent(href), encodeURIComponent(origin)];
  return [
    ...(families.has("eip155")
      ? ([
          ["MetaMask", `https://link.metamask.io/dapp/${href.replace(/^https?:\/\//, "")}`],
          ["Coinbase Wallet", `https://go.cb-w.com/dapp?cb_url=${url}`],
        ] as const)
      : []),
    ["Phantom", `https://phantom.app/ul/browse/${url}?ref=${ref}`],
  ];
}

function toItem([name, href]: readonly [string, string]): HTMLLIElement {
  const [item, link] = [document.createElement("li"), document.createElement("a")];
  Object.assign(link, { href, rel: "noreferrer", textContent: `Open in ${name}` });
  item.append(link);
  return item;
}
