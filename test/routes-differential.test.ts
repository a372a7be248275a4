// The route table against the real routers, through the real adapters: whatever a router dispatches to a priced handler, the
// guard in front of it must have found priced, and with that very entry. 2,000 variants for each router in CI, 10,000
// with `FULL=1`.
import { describe, expect, it } from "vitest";
import { compileRoutes, type RouteMatch } from "../src/routes.js";
import { SEED, VARIANTS } from "./fuzz/support/scale.js";
import { KINDS, type Kind, pathVariants } from "./support/path-variants.js";
import { PATHS, PRICES, ROUTERS } from "./support/route-shop.js";
import { table } from "./support/route-tables.js";

/** Each was a hole once: a router passed the first key over, for its flags or for a slash that a mount ate. */
const FOUND = [
  "/shop//sale",
  "/shop/sale/",
  "/shop/SALE",
  "/SHOP/sale",
  "/report/DAILY",
  "/Report//Daily",
  "/report/Daily/",
];
const variants = [
  ...pathVariants(PATHS, VARIANTS, SEED),
  ...FOUND.map((target) => ({ target, kinds: new Set<Kind>() })),
];
const { match } = compileRoutes(table(PRICES), { strict: false });

/** `/docs` and what is below it, as it stands in the key: letter for letter, up to query or fragment. */
const isFreeForm = (target: string): boolean =>
  /^\/docs(?:\/[^?#]*)?(?:[?#].*)?$/s.test(target.replace(/^https?:\/\/[^/?#]*/i, ""));

describe(`against the real routers, on ${VARIANTS} variants`, () => {
  it.each(ROUTERS)(
    "$name reaches a priced handler only where the guard found that very price",
    async ({ create, resolvesDots }) => {
      let found: { readonly asked: string; readonly result: RouteMatch }[] = [];
      const router = create(({ method, target }) => {
        found.push({ asked: target, result: match(method, target) });
        return { kind: "open" };
      });
      const missed: string[] = [];
      const hits = new Map<Kind, number>();
      for (const { target, kinds } of variants) {
        found = [];
        const reached = await router.dispatch(target);
        const shown = `${JSON.stringify(target)} reached ${reached.join()}, guard: ${found.map(({ result }) => result.kind).join()}`;
        // One answer for each way in which the target was handed on.
        if (reached.length > found.length) missed.push(`no guard: ${shown}`);
        for (const { asked, result } of found)
          if (result.kind === "free" && !isFreeForm(asked)) missed.push(`free: ${shown}`);
        for (const key of reached) {
          if (key === "GET /docs/*") continue;
          for (const kind of kinds) hits.set(kind, (hits.get(kind) ?? 0) + 1);
          const covers = ({ result }: { readonly result: RouteMatch }) =>
            result.kind === "undecodable" || (result.kind === "priced" && result.entry.key === key);
          if (!found.some(covers)) missed.push(shown);
        }
      }
      expect(missed).toEqual([]);
      // The comparison is worth nothing if the router answers only the plain spellings.
      for (const kind of KINDS) {
        const least = kind === "head" && !resolvesDots ? 0 : VARIANTS / 500;
        expect(hits.get(kind) ?? 0, kind).toBeGreaterThanOrEqual(least);
      }
    },
  );
});
