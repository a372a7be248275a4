// How much a fuzz test does: a seeded short form in CI, the full form by environment. The seed is fixed, so that a
// finding can be looked at again.

/** Every generated input comes from this seed. */
export const SEED = 402;

/** Payment headers: 5,000, or as many as `FUZZ` says. */
export const HEADERS = Number(process.env.FUZZ ?? 5000);

/** Path variants for each router: 2,000, or 10,000 with `FULL=1`. */
export const VARIANTS = process.env.FULL ? 10_000 : 2000;

/** Variants sent over sockets to each framework: 200, or 2,000 with `FULL=1`. */
export const OVER_SOCKETS = process.env.FULL ? 2000 : 200;
