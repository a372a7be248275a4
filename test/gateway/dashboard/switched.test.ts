// Where the dashboard is not: switched off, reached under a strange name, or over a network without https.
import { describe, expect, it, onTestFinished } from "vitest";
import { isOwnForm, placeOf } from "../../../src/gateway/dashboard/place.js";
import { createGatewayWorld } from "../world.js";
import { createVisitor, linkFor, tokenOf } from "./visitor.js";

const settingsOf = (publicUrl: string | undefined) => ({ publicUrl, port: 4020 });

describe("the dashboard", () => {
  it("is not there where it is switched off", async () => {
    const world = await createGatewayWorld({ watch: false, options: { dashboard: false } });
    onTestFinished(() => world.close());
    expect((await createVisitor(world).get("/login")).status).toBe(404);
  });

  it("signs nobody in over plain http across a network", async () => {
    const world = await createGatewayWorld({ watch: false, options: { publicUrl: "http://pay.example" } });
    onTestFinished(() => world.close());
    const visitor = createVisitor(world);
    expect((await visitor.get("/login")).text).toContain("TOLLGATE_PUBLIC_URL begins with https://");
    const token = tokenOf(await linkFor(world, world.account));
    expect((await visitor.post("/login", { token }, { origin: "http://pay.example" })).status).toBe(403);
    expect(visitor.cookie).toBeUndefined();
  });

  it("believes no name that somebody has bound to this machine", () => {
    const site = "same-origin";
    const local = placeOf(settingsOf(undefined));
    expect(isOwnForm(local, { host: "127.0.0.1:4020", origin: "http://127.0.0.1:4020", site })).toBe(true);
    expect(isOwnForm(local, { host: "evil.example:4020", origin: "http://evil.example:4020", site })).toBe(false);
    for (const host of ["127.999.1.1", "127.0.0.1:99999"]) {
      expect(isOwnForm(local, { host, origin: `http://${host}`, site }), host).toBe(false);
    }
    const far = placeOf(settingsOf("https://pay.example/tollgate"));
    expect([far.base, far.isHttps]).toEqual(["/tollgate/dashboard", true]);
    expect(isOwnForm(far, { host: "pay.example", origin: "https://pay.example", site })).toBe(true);
    expect(isOwnForm(far, { host: "pay.example", origin: "https://evil.example", site: undefined })).toBe(false);
  });
});
