// The page as the guard sends it: what stands in it, what it weighs, what a seller may change, and what happens when it fails.
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { PageFacts } from "../../src/html/page-data.js";
import { findNetwork } from "../../src/networks.js";
import { withoutPageCookies } from "../../src/page-cookie.js";
import type { PageOption } from "../../src/page-option.js";
import { runNode } from "../support/process.js";
import { broken, createWorld, makeRequest, type Sent, TRANSACTION } from "../support/world.js";

const BROWSER = { Accept: "text/html", "Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "none" };
const OWN = { ...BROWSER, "Sec-Fetch-Site": "same-origin" };

const SOLANA = findNetwork("solana-devnet");
if (!SOLANA) throw new Error("the table has no Solana Devnet");
const ON_SOLANA = { networks: [SOLANA], payTo: { [SOLANA.id]: "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin" } };

const textOf = ({ answer }: Sent): string => String(answer.body);
const dataOf = (sent: Sent) => JSON.parse(/id="tollgate-data">(.*?)<\/script>/s.exec(textOf(sent))?.[1] ?? "{}");
const open = (page: PageOption | undefined, description = "One report") =>
  createWorld({ terms: { page, description } }).send({ headers: BROWSER });

describe("the page", () => {
  it("is what its sources are now", async () => {
    expect(await runNode(["scripts/build-scripts.mjs", "--check"])).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  it("weighs less than 15 KB after gzip, with its script, its style and the code for Solana", async () => {
    const bytes = gzipSync(textOf(await open(undefined))).length;
    console.log(`the page, gzip: ${(bytes / 1000).toFixed(1)} KB`);
    expect(bytes).toBeLessThan(15_000);
  });

  it("asks nobody else for anything, and runs nothing without its nonce", async () => {
    const sent = await open(undefined);
    expect(textOf(sent)).not.toMatch(/(?:src|href)="(?!data:)/);
    expect(textOf(sent)).not.toMatch(/\son[a-z]+=|\sstyle="/);
    expect(sent.header("content-security-policy")).toMatch(
      /^default-src 'none'; script-src 'nonce-[^']+'; style-src 'nonce-/,
    );
  });

  it.each(["</script><script>", "<!--", "\u2028\u2029", "<img onerror=x>", "&lt;", "]]>"])(
    "holds %j of a description as text in every place",
    async (hostile) => {
      const sent = await open({ name: hostile.replace(/\p{Cc}/gu, "") || "x" }, `a ${hostile} b`);
      expect(dataOf(sent).description).toBe(`a ${hostile} b`);
      expect(textOf(sent).match(/<script/g)).toHaveLength(2);
      expect(textOf(sent).match(/<!--|<img/g)).toBeNull();
    },
  );

  it("shows the seller's name, picture and colour, and lets only that picture in", async () => {
    const sent = await open({ name: "Änne & Söhne", logo: "https://cdn.example/a.png?x=1&y=2", color: "#fd0" });
    expect(textOf(sent)).toContain("Änne &amp; Söhne</p>");
    expect(textOf(sent)).toContain('src="https://cdn.example/a.png?x=1&amp;y=2"');
    expect(textOf(sent)).toContain("--button:#ffdd00;--on-button:#000");
    expect(sent.header("content-security-policy")).toContain("img-src data: https://cdn.example;");
  });

  it("is never sent where the seller wants none", async () => {
    const sent = await open(false);
    expect([sent.answer.status, sent.header("content-type")]).toEqual([402, "application/json; charset=utf-8"]);
  });

  it("is the seller's own where he brings one, with the card in it", async () => {
    const own = ({ card, offers, status, url }: PageFacts) =>
      `<!doctype html><title>${status} ${offers[0]?.price} ${url}</title><main>${card}</main>`;
    const sent = await open(own);
    expect(textOf(sent)).toMatch(/^<!doctype html><title>402 0\.01 USDC http:\/\/shop\.example\/report<\/title>/);
    expect(dataOf(sent).offers).toHaveLength(1);
    expect(sent.header("content-security-policy")).toBe("base-uri 'none'; frame-ancestors 'none'");
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("no template");
      },
    ],
    ["gives no text", () => 7 as unknown as string],
  ])("stays a 402 in JSON where the seller's own page %s", async (_, page) => {
    const world = createWorld({ terms: { page } });
    const sent = await world.send({ headers: BROWSER });
    expect([sent.answer.status, sent.json().code, world.runs.length]).toEqual([402, "payment_required", 0]);
    expect(world.log.join()).toContain("the page of a paywall failed");
  });

  it("says the price function's own refusal, and offers nothing to pay", async () => {
    const price = () => {
      throw Object.assign(new Error("Say how many pages"), { status: 400 });
    };
    const sent = await createWorld({ price }).send({ headers: BROWSER });
    expect([sent.answer.status, dataOf(sent).offers]).toEqual([400, []]);
    expect(dataOf(sent).problem).toMatchObject({ message: "Say how many pages", payment: "none" });
  });

  it("never says that no money moved when the store fails under a payment of the page", async () => {
    const world = createWorld();
    const { cookie } = dataOf(await world.send({ headers: BROWSER }));
    const value = (await world.sign())["PAYMENT-SIGNATURE"];
    world.context.claims.peek = () => Promise.reject(new Error("the store is gone"));
    const sent = await world.send({ headers: { ...OWN, Cookie: `${cookie}=${value}` } });
    expect([sent.answer.status, dataOf(sent).problem?.payment, world.runs.length]).toEqual([500, "unknown", 0]);
  });

  it("a HEAD never pays, whatever cookie it brings", async () => {
    const world = createWorld();
    const { cookie } = dataOf(await world.send({ headers: BROWSER }));
    const value = (await world.sign())["PAYMENT-SIGNATURE"];
    const sent = await world.send({ method: "HEAD", headers: { ...OWN, Cookie: `${cookie}=${value}` } });
    expect([sent.answer.status, sent.answer.body, world.runs.length]).toEqual([402, "", 0]);
  });

  it("a failed handler is not called paid, and one that answers is", async () => {
    const world = createWorld();
    const { cookie, paid } = dataOf(await world.send({ headers: BROWSER }));
    const value = (await world.sign({ retryKey: "retry-key-0123456789" }))["PAYMENT-SIGNATURE"];
    const headers = { ...OWN, Cookie: `${cookie}=${value}` };
    const failed = await world.send({ headers }, broken);
    expect([failed.answer.status, failed.header("set-cookie")]).toEqual([500, undefined]);
    const served = await world.send({ headers });
    expect([served.answer.status, served.header("set-cookie")]).toEqual([
      200,
      expect.stringContaining(`${paid}=${TRANSACTION};`),
    ]);
  });

  it("makes no draft where none can be made, and answers in JSON all the same", async () => {
    const world = createWorld();
    for (const wish of ["draft 0 9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin", "draft 9 x", "draft", "1"]) {
      const sent = await world.send({
        headers: { Accept: "text/html", "Payment-Page": wish, "Sec-Fetch-Dest": "empty" },
      });
      expect([sent.answer.status, sent.header("content-type"), sent.json().draft]).toEqual([
        402,
        "application/json; charset=utf-8",
        undefined,
      ]);
    }
  });

  it.each([
    ["its data cannot be made", "clock", "1"],
    ["its draft cannot be made, nor that be logged", "draft", "draft 0 9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"],
  ])("keeps the refusal of everybody where the page asks and %s", async (_, what, wish) => {
    const world = createWorld(what === "draft" ? { price: "0.001 SOL", terms: ON_SOLANA } : {});
    const broken = () => {
      throw new Error("inner words");
    };
    if (what === "clock") world.context.clock.now = broken;
    else Object.assign(world.receiver, { draft: broken }) && Object.assign(world.context.logger, { warn: broken });
    const sent = await world.send({
      headers: { Accept: "text/html", "Payment-Page": wish, "Sec-Fetch-Dest": "empty" },
    });
    expect([sent.answer.status, sent.json().code]).toEqual([402, "payment_required"]);
    expect(textOf(sent)).not.toContain("inner words");
    expect(world.log.join()).toContain("the page of a paywall failed");
  });

  it("is not made of a question without an answer's body", async () => {
    const headers = { Accept: "text/html", "Payment-Page": "1", "Sec-Fetch-Dest": "empty" };
    const sent = await createWorld().send({ method: "HEAD", headers });
    expect([sent.answer.status, sent.answer.body]).toEqual([402, ""]);
  });

  it.each([
    ["Text/HTML, */*;q=0.1", true],
    ["application/xhtml+xml,text/html;q=0.9", true],
    ["text/html-fragment", false],
    ["application/json, text/html;q=0", false],
    ["*/*", false],
    ["", false],
  ])("for Accept %j: %s", async (accept, isPage) => {
    const sent = await createWorld().send({ headers: { ...BROWSER, Accept: accept } });
    expect(sent.header("content-type")?.startsWith("text/html")).toBe(isPage);
  });

  it("costs a program no more than a look: it is answered at once, without a promise", async () => {
    const { guard } = createWorld();
    const [first, second] = [guard(makeRequest({})), guard(makeRequest({ headers: { Accept: "*/*" } }))];
    expect([first instanceof Promise, second instanceof Promise]).toEqual([false, false]);
  });
});

describe("a Cookie header", () => {
  it.each([
    ["a=1; b=2", "a=1; b=2"],
    ["tollgate-payment-12345678=abc", undefined],
    ["a=1; tollgate-payment-12345678=abc; tollgate-payment-12345678-1=def; b=2", "a=1; b=2"],
    ["tollgate-paid-12345678=1; a=1", "a=1"],
    ["a=1, tollgate-paid-12345678=1", "a=1"],
    ["my-tollgate-payment-1=1; tollgate-pass=2", "my-tollgate-payment-1=1; tollgate-pass=2"],
    ["a=tollgate-payment-12345678=1", "a=tollgate-payment-12345678=1"],
  ])("%j is %j to the handler", (sent, seen) => {
    expect(withoutPageCookies(sent)).toBe(seen);
  });
});
