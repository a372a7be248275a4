// The list of a store on a SQL database: by the version with which each entry was added, so that a later write moves nothing.
import { decodeValue } from "../codec.js";
import type { Page } from "../store.js";
import type { SqlDialect, Whole } from "./dialect.js";

/** One statement, whose time it is judged by. */
export async function listPage(
  { kysely: { sql }, db, now }: SqlDialect,
  cursor: string | undefined,
  limit: number,
): Promise<Page> {
  const before = cursor === undefined ? sql`place is not null` : sql`place < ${Number(cursor)}`;
  const { rows } = await sql<{ now: Whole; key: string | null; value: string; place: Whole }>`
    with clock as (select ${now()} as now)
    select clock.now as now, page.key as key, page.value as value, page.place as place
    from clock left join (
      select key, value, place from tollgate_entries, clock
      where ${before} and expires_at > clock.now order by place desc limit ${limit}
    ) as page on 1 = 1
    order by page.place desc
  `.execute(db);
  const found = rows.flatMap(({ key, value, place }) => (key === null ? [] : [{ key, value, place }]));
  const last = found.length === limit ? found.at(-1) : undefined;
  return {
    now: Number(rows[0]?.now),
    entries: found.map(({ key, value }) => ({ key, value: decodeValue(value) })),
    next: last && String(last.place),
  };
}
