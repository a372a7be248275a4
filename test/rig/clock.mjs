// Loaded before a process of the rig (`node --import`): its clock is wrong by CLOCK_SKEW_MS, and jumps at each SIGHUP: right, ten
// minutes ahead, ten minutes behind, and so on.
const JUMPS = [0, 600_000, -600_000];
const RealDate = Date;
const realNow = Date.now;
let skew = Number(process.env.CLOCK_SKEW_MS ?? 0);
let jumps = 0;

Date.now = () => realNow() + skew;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [target.now()] : args, self),
});
process.on("SIGHUP", () => {
  jumps += 1;
  skew = JUMPS[jumps % JUMPS.length] ?? 0;
});
