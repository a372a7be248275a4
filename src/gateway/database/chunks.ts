// Lists that are asked for in one statement: no statement has more values than any database takes.

const MOST = 500;

/** @example chunksOf(ids).map((some) => db.selectFrom("gateway_keys").where("id", "in", some)) */
export const chunksOf = <Item>(items: readonly Item[]): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / MOST) }, (_, at) => items.slice(at * MOST, (at + 1) * MOST));
