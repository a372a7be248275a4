// A history of 40,000 payments with the largest metadata: an offset far into it, or beyond it, stops nobody else. SQLite works on
// the thread that answers everybody, so that a page which reads all records before it would hold up the whole service.
import Database from "libsql";
import { afterAll, beforeAll, expect, it } from "vitest";
import { encodeBase58 } from "../../src/chains/solana/base58.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

const COUNT = 40_000;
const PAYEE = "0x00000000000000000000000000000000000000AA";
const PAYER = "0x00000000000000000000000000000000000000bB";
let world: GatewayWorld;
beforeAll(async () => {
  world = await createGatewayWorld({ watch: false });
  const { database } = world.options;
  fill(String(database && "file" in database ? database.file : undefined), world.account);
}, 120_000);
afterAll(() => world.close());

/** The last payment has the highest number, and is the newest. */
const idOf = (n: number): string => {
  const bytes = Buffer.alloc(16, 0x80);
  bytes.writeUInt32BE(n, 12);
  return `pay_${encodeBase58(bytes)}`;
};

/** As another program would write them: through the service it would take an hour. */
function fill(file: string, account: string): void {
  const database = new Database(file);
  const metadata = JSON.stringify({ note: "x".repeat(4_000) });
  const insert = database.prepare(
    `insert into gateway_payments (id, account, mode, type, flow, status, network, asset, amount, sender, recipient, metadata,
      created_at, updated_at, late, pursuit, version)
     values (?, ?, 'test', 'received', 'receive', 'finalized', 'eip155:84532', 'native', '1', ?, ?, ?, ?, ?, 0, '{}', 1)`,
  );
  database.exec("begin");
  for (let n = 0; n < COUNT; n += 1) {
    insert.run(idOf(n), account, PAYER, PAYEE, metadata, 1_700_000_000_000 + n, 1_700_000_000_000 + n);
  }
  database.exec("commit");
  database.close();
}

const page = async (query: string) => {
  const begun = performance.now();
  const { status, body } = await world.call("GET", `/payment/history/${PAYEE}?${query}`);
  const payments = Object.values(body.payments ?? {}).map((payment) => String(payment?.paymentId));
  return { status, payments, total: Number(body.pagination?.total), ms: performance.now() - begun };
};

/** The best of some, because the machine does other things as well. */
async function bestOf(query: string): Promise<number> {
  const all: number[] = [];
  for (let n = 0; n < 5; n += 1) all.push((await page(query)).ms);
  return Math.min(...all);
}

it("gives the records of any offset", async () => {
  for (const offset of [0, 1, 20_000, COUNT - 2]) {
    const got = await page(`limit=2&offset=${offset}`);
    expect([offset, got.status, got.total]).toEqual([offset, 200, COUNT]);
    expect(got.payments).toEqual([idOf(COUNT - 1 - offset), idOf(COUNT - 2 - offset)]);
  }
  for (const offset of [COUNT, 1_000_000]) expect((await page(`offset=${offset}`)).payments).toEqual([]);
});

it("reads the records of a page, and not those that it leaves out", async () => {
  const first = await bestOf("limit=1");
  // Where all records before it were read, it took ten times as long as the first page.
  for (const query of [`limit=1&offset=${COUNT - 1}`, "limit=1&offset=1000000"]) {
    expect([query, (await bestOf(query)) < 5 * first]).toEqual([query, true]);
  }
}, 120_000);
