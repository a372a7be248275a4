// Payments as text: what a spreadsheet and another program read is what was paid, whatever stands in it.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ListedPayment, toCsv, toJsonLines } from "tollgate/payments";
import { describe, expect, it, onTestFinished } from "vitest";
import { dice } from "./support/dice.js";

const PAID: ListedPayment = {
  proofId: "proof",
  payer: "0xbuyer",
  payTo: "0xseller",
  network: "eip155:8453",
  asset: "0xusdc",
  amount: 2n ** 80n,
  settlement: "settled",
  delivery: "delivered",
  transaction: "0xabc",
  claimedAt: 1_700_000_000_000,
  settledAt: 1_700_000_001_500,
};
const REFUSED: ListedPayment = {
  proofId: "other",
  payer: "0xbuyer",
  payTo: "0xseller",
  network: "eip155:8453",
  asset: "0xusdc",
  amount: 1n,
  settlement: "refused",
  delivery: "none",
  code: "insufficient_funds",
};

async function textOf(lines: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const line of lines) text += line;
  return text;
}

/** Reads CSV as RFC 4180 has it. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  let row: string[] = [];
  while (field.lastIndex < text.length) {
    const found = field.exec(text);
    if (!found) throw new Error("no CSV");
    row.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? "");
    if (found[3] === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

describe("JSON lines", () => {
  it("have an object for each payment, amounts as exact text", async () => {
    const lines = (await textOf(toJsonLines([PAID, REFUSED]))).split("\n");
    expect(lines.pop()).toBe("");
    const { code, ...refused } = REFUSED;
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { ...PAID, amount: (2n ** 80n).toString() },
      { ...refused, amount: "1", code },
    ]);
  });

  it("stay lines whatever a receiver calls a transaction", async () => {
    const transaction = "a\r\nb\u2028c\u0000";
    const text = await textOf(toJsonLines([{ ...PAID, transaction }]));
    expect(text.trimEnd().split(/\r?\n/)).toHaveLength(1);
    expect(JSON.parse(text)).toMatchObject({ transaction });
  });
});

describe("CSV", () => {
  it("has a line of names and a line for each payment, ended as RFC 4180 says", async () => {
    expect(await textOf(toCsv([PAID, REFUSED]))).toBe(
      "proofId,payer,payTo,network,asset,amount,received,settlement,delivery,transaction,code,claimedAt,settledAt\r\n" +
        "proof,0xbuyer,0xseller,eip155:8453,0xusdc,1208925819614629174706176,,settled,delivered,0xabc,," +
        "2023-11-14T22:13:20.000Z,2023-11-14T22:13:21.500Z\r\n" +
        "other,0xbuyer,0xseller,eip155:8453,0xusdc,1,,refused,none,,insufficient_funds,,\r\n",
    );
  });

  it.each([
    "=cmd|' /C calc'!A0",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    " =1",
    "\u00a0=1",
    "\u200b=1",
    "\uff1d1",
    '"=1',
  ])("has nothing that a spreadsheet computes: %j", async (transaction) => {
    const [, row = []] = readCsv(await textOf(toCsv([{ ...PAID, transaction }])));
    const [first = ""] = row[9] ?? "";
    expect(["'", '"']).toContain(first);
    expect(row).toHaveLength(13);
    expect(row[9]?.replace(/^'/, "")).toBe(transaction);
  });

  it("gives back every text that it was made of", async () => {
    const roll = dice(11);
    const signs = ["a", '"', ",", "\r", "\n", " ", "é", "😀", ";"];
    const texts = Array.from({ length: 300 }, () =>
      Array.from({ length: roll(8) }, () => signs[roll(signs.length)]).join(""),
    );
    const rows = readCsv(await textOf(toCsv(texts.map((transaction) => ({ ...PAID, transaction })))));
    expect(rows.slice(1).map((row) => row[9]?.replace(/^'(?=[\r\n])/, ""))).toEqual(texts);
  });
});

it("goes into a file and through a web stream as it comes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-payments-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "payments.csv");
  await writeFile(file, toCsv([PAID]));
  const answer = new Response(ReadableStream.from(toCsv([PAID])).pipeThrough(new TextEncoderStream()));
  expect(await answer.text()).toBe(readFileSync(file, "utf8"));
  expect(readFileSync(file, "utf8")).toBe(await textOf(toCsv([PAID])));
});

it("asks for no payment before somebody reads", async () => {
  let asked = 0;
  async function* payments() {
    for (; asked < 1000; ) {
      asked += 1;
      yield PAID;
    }
  }
  for await (const line of toCsv(payments())) if (line.startsWith("proof,")) break;
  expect(asked).toBe(1);
});
