// Names and shapes that mean something to JavaScript or to a network, and must mean nothing to the paywall.
import { afterEach, describe, expect, it } from "vitest";
import { FRAMEWORKS } from "../e2e/seller.js";
import { createWorld } from "../support/world.js";
import { ask, signFor } from "./buyer.js";
import { openShop, type Shop } from "./shop.js";

let shop: Shop | undefined;
afterEach(async () => {
  await shop?.close();
  shop = undefined;
});
const encode = (text: string) => Buffer.from(text).toString("base64");

describe.each(FRAMEWORKS)("shapes on %s", (framework) => {
  it("A50: members named like those of Object.prototype change nothing, and __proto__ is refused", async () => {
    shop = await openShop(framework);
    const url = `${shop.url}/report`;
    const names = ["constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "__defineGetter__"];
    for (const name of names) {
      const payment = await signFor(url);
      const json = JSON.parse(Buffer.from(payment.value, "base64").toString("utf8"));
      const odd = { prototype: { polluted: true }, polluted: true, info: { id: "x" } };
      const text = JSON.stringify({ ...json, [name]: odd, extensions: { ...json.extensions, [name]: odd } });
      const got = await ask(url, { headers: { [payment.name]: encode(text) } });
      expect([200, 400, 402], name).toContain(got.status);
      expect(got.json.code ?? "none").not.toBe("internal_error");
    }
    const payment = await signFor(url);
    const plain = Buffer.from(payment.value, "base64").toString("utf8");
    const runs = shop.runs.length;
    for (const text of [
      `{"__proto__":{"polluted":true},${plain.slice(1)}`,
      plain.replace('"accepted":{', '"accepted":{"__proto__":{"polluted":true},'),
      plain.replace('"authorization":{', '"authorization":{"__proto__":{"polluted":true},'),
    ]) {
      expect(text).not.toBe(plain);
      const got = await ask(url, { headers: { [payment.name]: encode(text) } });
      expect([got.status, got.json.code]).toEqual([400, "payment_malformed"]);
    }
    expect(shop.runs).toHaveLength(runs);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
    expect((await ask(url, payment)).status).toBe(200);
  });

  it("A49: a target full of markup comes back as text in the page for a browser, which runs no script but its own", async () => {
    shop = await openShop(framework, { routes: [{ path: "/paid/:name" }] });
    const browser = { accept: "text/html,application/xhtml+xml", "user-agent": "Mozilla/5.0 (X11) Chrome/140.0" };
    for (const path of [
      `/paid/<svg onload=alert(1)>?x="><script>`,
      "/paid/%3Csvg%20onload=alert(1)%3E?x=%22%3E%3Cscript%3E",
    ]) {
      const { send } = await import("../adapters/wire.js");
      const got = await send(shop.port, path.replaceAll(" ", "%20"), { headers: browser });
      expect([400, 402]).toContain(got.status);
      expect(got.text).not.toMatch(/<svg onload|"><script>/i);
      if (got.status === 400) expect(() => JSON.parse(got.text)).not.toThrow();
      else expect(got.headers["content-security-policy"]).toMatch(/default-src 'none'.*script-src 'nonce-/);
    }
  });
});

describe("F68: the network of a payment", () => {
  it.each([
    ["base-sepolia", 402],
    ["base", 402],
    ["eip155:084532", 402],
    ["EIP155:84532", 402],
    ["eip155:8453", 402],
    ["eip155:84532", 200],
  ])("named %s in v2 is answered with %i", async (network, status) => {
    const world = createWorld();
    const { answer } = await world.send({ headers: await world.sign({ accepted: { network } }) });
    expect([answer.status, world.receiver.calls.settle]).toEqual([status, status === 200 ? 1 : 0]);
    if (status === 402) expect(world.receiver.calls.verify).toBe(0);
  });

  it.each([
    ["base-sepolia", 200],
    ["eip155:84532", 200],
    ["eip155:8453", 402],
    ["base", 402],
    ["BASE-SEPOLIA", 402],
    ["eip155:084532", 402],
  ])("named %s in v1 is answered with %i", async (network, status) => {
    const world = createWorld();
    const { "X-PAYMENT": text = "" } = await world.sign({ version: 1 });
    const json = JSON.parse(Buffer.from(text, "base64").toString("utf8"));
    const { answer } = await world.send({ headers: { "X-PAYMENT": encode(JSON.stringify({ ...json, network })) } });
    expect([answer.status, world.receiver.calls.settle]).toEqual([status, status === 200 ? 1 : 0]);
  });
});
