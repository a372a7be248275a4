// What a database does for the questions that every request asks, with 100,000 payments in its tables: it walks an index, and reads
// no table from end to end. The plans are the database's own, for the very statements that were sent to it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { GatewayDatabase } from "../../../src/gateway/database/database.js";
import { openDatabase } from "../../../src/gateway/database/open.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres.js";
import { RECIPIENT, SENDER } from "./payments-made.js";

const PAYMENTS = 100_000;
/** Accounts share the payments evenly; the one that is asked for has a wallet that sent and got a hundredth of its own. */
const ACCOUNTS = 50;
const ID = "pay_1111111111111111111111";
const HASH = `0x${"00".repeat(31)}07`;

/** `row`: a number from 1 on; `text(n)`: it as text. */
const seed = (rows: string, text: (n: string) => string): readonly string[] => [
  `with ${rows}
   insert into gateway_payments (id, account, mode, type, flow, status, network, asset, amount, sender, recipient, signature,
     created_at, updated_at, late, proof_held, idempotency_held, pursuit, version, due_at)
   select 'pay_' || ${text("n")}, 'acc_' || ${text(`n % ${ACCOUNTS}`)}, 'test',
     case when n % 2 = 0 then 'sent' else 'received' end, case when n % 2 = 0 then 'send' else 'receive' end,
     case when n % 1000 = 0 then 'submitted' else 'finalized' end, 'eip155:84532', 'native', '1000',
     case when n % 100 < ${ACCOUNTS} then '${SENDER}' else 'a' || ${text("n")} end,
     case when n % 100 < ${ACCOUNTS} then 'b' || ${text("n")} else '${RECIPIENT}' end,
     's' || ${text("n")}, n, n, 0, 'p' || ${text("n")}, 'i' || ${text("n")}, '{}', 1, case when n % 1000 = 0 then n end
   from rows`,
  `with ${rows}
   insert into gateway_history (payment, step, status, at) select 'pay_' || ${text("n")}, 1, 'created', n from rows`,
  `with ${rows}
   insert into gateway_keys (id, account, prefix, hash, name, mode, plan, scopes, wallets, created_at)
   select 'key_' || ${text("n")}, 'acc_1', 'tg_test_' || ${text("n")}, '', 'x', 'test', 'standard', '[]', '[]', n
   from rows where n <= 10000`,
  `with ${rows}
   insert into gateway_requests (id, content_hash, begun_at, lease_until)
   select 'r' || ${text("n")}, 'h', n, n from rows`,
];

interface Sent {
  readonly text: string;
  readonly values: readonly unknown[];
}
type Ask = (database: GatewayDatabase) => Promise<unknown>;
interface Ground {
  /** What is sent for it. */
  record(ask: Ask): Promise<readonly Sent[]>;
  /** Tables that the database would read from end to end for it. */
  scans(sent: Sent): Promise<readonly string[]>;
  /** The steps along the indexes of histories, in the words of SQLite, which says where one of them is all that is read. */
  walks?(sent: Sent): Promise<readonly string[]>;
  close(): Promise<void>;
}

const isQuestion = (text: string): boolean => /^(?:select|update|delete|with)/i.test(text);

async function sqlite(): Promise<Ground> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-plans-"));
  const file = join(folder, "gateway.db");
  await (await openDatabase({ file })).close();
  const raw = new Libsql(file);
  const rows = `recursive rows(n) as (select 1 union all select n + 1 from rows where n < ${PAYMENTS})`;
  for (const text of seed(rows, (n) => `cast(${n} as text)`)) raw.prepare(text).run();
  raw.exec("analyze");
  const planOf = ({ text }: Sent): readonly string[] => {
    const parameters = Array((text.match(/\?/g) ?? []).length).fill(1);
    const plan = raw.prepare(`explain query plan ${text}`).all(parameters) as readonly { readonly detail: string }[];
    return plan.map(({ detail }) => detail);
  };
  return {
    async record(ask) {
      // Opened anew: one that has sent a statement before keeps it prepared.
      const database = await openDatabase({ file });
      const prepare = vi.spyOn(Libsql.prototype, "prepare");
      await ask(database);
      const sent = prepare.mock.calls.map(([text]) => ({ text: String(text), values: [] }));
      prepare.mockRestore();
      await database.close();
      return sent;
    },
    async scans(sent) {
      // The first key of all stands in for one that is not there: one step along an index, and no more (keys.ts).
      const isFirstKey = (step: string) => step.startsWith("SCAN gateway_keys USING INDEX");
      return planOf(sent).filter((step) => step.startsWith("SCAN gateway_") && !isFirstKey(step));
    },
    async walks(sent) {
      return planOf(sent).filter((step) => /gateway_payments_(?:sender|recipient)/.test(step));
    },
    async close() {
      raw.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function postgres(server: PostgresServer): Promise<Ground> {
  const url = await server.newSchema();
  const database = await openDatabase({ url });
  const rows = `rows(n) as (select generate_series(1, ${PAYMENTS}))`;
  for (const text of seed(rows, (n) => `(${n})::text`)) await server.query(text, url);
  await server.query("analyze", url);
  const client = new pg.Client(url);
  await client.connect();
  return {
    async record(ask) {
      const query = vi.spyOn(pg.Client.prototype, "query");
      await ask(database);
      const sent = query.mock.calls.flatMap(([first, values]) => {
        const call = first as unknown as { readonly text?: string; readonly values?: readonly unknown[] } | string;
        const text = typeof call === "string" ? call : (call.text ?? "");
        return [{ text, values: (typeof call === "string" ? values : call.values) ?? [] }] as Sent[];
      });
      query.mockRestore();
      return sent;
    },
    async scans({ text, values }) {
      const { rows: plan } = await client.query(`explain ${text}`, [...values]);
      const lines = plan.map((row) => String(row["QUERY PLAN"]));
      return lines.filter((line) => /Seq Scan on gateway_(?:payments|history|keys|requests)/.test(line));
    },
    async close() {
      await client.end();
      await database.close();
    },
  };
}

const page = { type: "all", limit: 50, offset: 0 } as const;
const PAGES: readonly (readonly [string, Ask])[] = [
  ["a wallet's history", ({ payments }) => payments.page("acc_7", "test", SENDER, page)],
  ["what a wallet got", ({ payments }) => payments.page("acc_7", "test", RECIPIENT, { ...page, type: "received" })],
  ["what a wallet sent", ({ payments }) => payments.page("acc_8", "test", SENDER, { ...page, type: "sent" })],
  ["a later page", ({ payments }) => payments.page("acc_7", "test", SENDER, { ...page, before: `5000-${ID}` })],
];
/** By the endpoint or the work that asks. */
const QUESTIONS: readonly (readonly [string, Ask])[] = [
  ["the caller's key", ({ keys }) => keys.find("tg_test_77")],
  ["a payment by its id", ({ payments }) => payments.get("pay_77")],
  ["a payment by its transaction", ({ payments }) => payments.bySignature("acc_7", HASH)],
  ["a payment by its proof", ({ payments }) => payments.byProof("p77")],
  ["a payment by its Idempotency-Key", ({ payments }) => payments.byIdempotency("i77")],
  ["the changes of a payment", ({ payments }) => payments.historyOf("pay_77")],
  ...PAGES,
  ["the receives under way", ({ payments }) => payments.countRunning("acc_7")],
  ["what the watcher has to look at", ({ payments }) => payments.takeDue(8, 1_000)],
];

let server: PostgresServer | undefined;
afterAll(() => server?.stop());

describe.each([
  ["SQLite", undefined, () => sqlite()],
  [
    "Postgres",
    noPostgres(),
    async () => {
      server = await startPostgres();
      return postgres(server);
    },
  ],
] as const)("with 100,000 payments in %s", (name, reason, make) => {
  let ground: Ground;
  beforeAll(async () => {
    if (reason === undefined) ground = await make();
  }, 120_000);
  afterAll(() => ground?.close());

  it.skipIf(reason !== undefined).each(QUESTIONS)("%s: by an index", async (_question, ask) => {
    const sent = (await ground.record(ask)).filter(({ text }) => isQuestion(text));
    expect(sent.some(({ text }) => text.includes("gateway_"))).toBe(true);
    for (const one of sent) expect([one.text, await ground.scans(one)]).toEqual([one.text, []]);
  });

  // SQLite works on the thread that answers everybody, and a record may have kilobytes of metadata.
  it.skipIf(reason !== undefined || name !== "SQLite").each(PAGES)(
    "%s: counted and chosen in an index alone",
    async (_question, ask) => {
      const sent = await ground.record(ask);
      const walks = (await Promise.all(sent.map((one) => ground.walks?.(one) ?? []))).flat();
      // Each half is counted once and chosen once.
      expect(walks).toHaveLength(4);
      const half =
        /^SEARCH gateway_payments USING COVERING INDEX gateway_payments_(\w+) \(account=\? AND mode=\? AND \1=\?/;
      for (const step of walks) expect(step).toMatch(half);
    },
  );

  it.skipIf(reason !== undefined)("and a question that has no index is seen to have none", async () => {
    const text = "select id from gateway_payments where resource = 'https://shop.example/'";
    expect(await ground.scans({ text, values: [] })).toHaveLength(1);
  });
});
