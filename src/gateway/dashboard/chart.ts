// Bars of amounts, drawn by the server: no script, and beside it the same numbers as a table. The heights are whole thousandths of
// the highest, calculated with bigint.
import { html } from "hono/html";
import type { Html } from "./layout.js";

export interface Bar {
  readonly label: string;
  readonly amount: bigint;
  readonly text: string;
}

const HEIGHT = 160;

export function barChart(title: string, bars: readonly Bar[]): Html {
  const highest = highestOf(bars);
  const width = 10 * bars.length;
  const rects = bars.map(({ amount, label, text }, at) => {
    const height = Number((amount * BigInt(HEIGHT - 10)) / highest);
    // What is more than nothing is seen.
    const seen = amount > 0n ? Math.max(1, height) : 0;
    return html`<rect x="${at * 10 + 1}" y="${HEIGHT - seen}" width="8" height="${seen}"><title>${label}: ${text}</title></rect>`;
  });
  return html`<svg class="chart" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${title}" height="${HEIGHT}">${rects}</svg>
    <details><summary>${title}, as a table</summary>${barTable(title, bars)}</details>`;
}

const barTable = (title: string, bars: readonly Bar[]): Html => numbers(title, bars, ({ label }) => html`${label}`);

/** A table whose rows are long names, each with its bar under it. */
export function namedBars(title: string, bars: readonly Bar[]): Html {
  const highest = highestOf(bars);
  // The number beside it says the same to whoever sees no bar.
  return numbers(
    title,
    bars,
    ({ label, amount }) => html`${label}
      <progress max="1000" value="${shareOf(amount, highest)}" aria-hidden="true"></progress>`,
  );
}

const numbers = (title: string, bars: readonly Bar[], name: (bar: Bar) => Html): Html => html`<table>
  <thead><tr><th scope="col">${title}</th><th scope="col" class="number">Received</th></tr></thead>
  <tbody>${bars.map((bar) => html`<tr><td>${name(bar)}</td><td class="number">${bar.text}</td></tr>`)}</tbody>
</table>`;

/** Thousandths, 0 to 1000. */
export const shareOf = (part: bigint, whole: bigint): number => (part >= whole ? 1000 : Number((part * 1000n) / whole));

/** At least 1: it is divided by. */
function highestOf(bars: readonly Bar[]): bigint {
  let highest = 1n;
  for (const { amount } of bars) if (amount > highest) highest = amount;
  return highest;
}
