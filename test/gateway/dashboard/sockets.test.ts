// The sockets of the page that shows payments: opened by a session's cookie for a page of the gateway, and ended with the session.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listen } from "../events/listening.js";
import { createGatewayWorld, type GatewayWorld } from "../world.js";
import { createPayments } from "./payments.js";
import { createVisitor } from "./visitor.js";

const CHANNELS = ["payments", "verifications", "settlements"];

describe("a socket of the dashboard", { timeout: 60_000 }, () => {
  let world: GatewayWorld;
  beforeAll(async () => {
    const context = { eventTimes: { beatMs: 50, authenticateMs: 300 } };
    // A page of the neighbour may open event sockets, with a key of its own.
    const options = { eventOrigins: ["https://neighbour.example"] };
    world = await createGatewayWorld({ watch: false, context, options });
  }, 60_000);
  afterAll(() => world?.close());
  const signedIn = async (account = world.account) => {
    const visitor = createVisitor(world);
    await visitor.signIn(account);
    return visitor;
  };
  /** `origin: ""`: it names none. */
  const open = (cookie = "", origin = world.url, query = "?dashboard=test") =>
    listen(world.url, { headers: { ...(cookie && { cookie }), ...(origin && { origin }) } }, query);

  it("is told of the account's payments, of no other's and of no other mode's", async () => {
    const account = await world.newAccount();
    const { cookie } = await signedIn(account);
    const [own, live] = [open(cookie), open(cookie, world.url, "?dashboard=live")];
    expect(await own.next("authenticated")).toMatchObject({ account, plan: "dashboard" });
    await live.next("authenticated");
    await Promise.all([own.subscribe(CHANNELS), live.subscribe(CHANNELS)]);
    await createPayments(world, world.account);
    const made = await createPayments(world, account);
    const events = await own.reached(made.length);
    expect(new Set(events.map(({ data }) => data.paymentId))).toEqual(new Set(made.map(({ id }) => id)));
    expect(live.events()).toEqual([]);
    own.end();
    live.end();
  });

  it("A44: is opened for a page of this gateway only, and by a cookie that is good", async () => {
    const { cookie } = await signedIn();
    const here = new URL(world.url);
    for (const [what, ...given] of [
      ["another site", cookie, "https://evil.example"],
      ["no page", cookie, ""],
      ["another port", cookie, `http://${here.hostname}:1`],
      ["https", cookie, `https://${here.host}`],
      ["null", cookie, "null"],
      ["a neighbour", cookie, "https://neighbour.example"],
      ["no cookie"],
      ["a forged cookie", `tollgate_session=${"A".repeat(43)}`],
      ["another mode", cookie, world.url, "?dashboard=both"],
      ["no mode", cookie, world.url, ""],
    ] as const) {
      const socket = open(...given);
      socket.socket.on("open", () => socket.say({ method: "subscribe", keys: CHANNELS }));
      await socket.closed;
      expect([what, socket.messages.filter(({ type }) => type !== "error")]).toEqual([what, []]);
    }
  });

  it("ends when the session ends: signed out here or everywhere", async () => {
    for (const path of ["/logout", "/logout-everywhere"]) {
      const visitor = await signedIn();
      const socket = open(visitor.cookie);
      await socket.next("authenticated");
      await visitor.post(path, { form: (await visitor.get("/account")).form });
      expect([path, (await socket.closed).code]).toEqual([path, 4401]);
    }
  });

  it("takes no place of the account's programs", async () => {
    const account = await world.newAccount();
    const { cookie } = await signedIn(account);
    const sockets = Array.from({ length: 6 }, () => open(cookie));
    await Promise.all(sockets.map((one) => one.next("authenticated")));
    const key = await world.newKey({ account, plan: "standard" });
    const program = listen(world.url, { headers: { authorization: `Bearer ${key}` } });
    expect(await program.next("authenticated")).toMatchObject({ plan: "standard" });
    for (const one of [...sockets, program]) one.end();
  });
});
