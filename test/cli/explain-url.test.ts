// `tollgate explain URL`: one request, no payment, no redirect followed; what the answer asks is explained.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeHeader } from "../../src/wire/header.js";
import { freePort } from "../support/process.js";
import { run } from "./cli.js";
import { challenge, OFFER, told } from "./explaining.js";

const asked: { readonly line: string; readonly headers: IncomingMessage["headers"]; readonly body: string }[] = [];
const answers: Record<string, (response: ServerResponse) => void> = {
  "/both": (response) => {
    response.writeHead(402, { "PAYMENT-REQUIRED": encodeHeader(challenge()), "Content-Type": "application/json" });
    response.end(JSON.stringify({ x402Version: 1, error: "", accepts: [{ ...OFFER, network: "base-sepolia" }] }));
  },
  "/page": (response) => {
    response.writeHead(402, { "PAYMENT-REQUIRED": encodeHeader(challenge()) }).end("<html>Pay here</html>");
  },
  "/free": (response) => response.end("the goods"),
  "/moved": (response) => response.writeHead(302, { Location: "https://elsewhere.example/" }).end(),
  "/broken": (response) => response.writeHead(500).end(),
  "/empty": (response) => response.writeHead(402).end("Payment Required"),
  "/endless": (response) => {
    response.writeHead(402);
    const pour = () => {
      while (!response.destroyed && response.write(" ".repeat(65_536)));
      if (!response.destroyed) response.once("drain", pour);
    };
    pour();
  },
};

const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  asked.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
  answers[request.url ?? ""]?.(response);
});
let origin: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const explainUrl = async (path: string, ...argv: string[]) => {
  asked.length = 0;
  return run(["explain", `${origin}${path}`, ...argv]);
};

describe("explain URL", () => {
  it("explains header and body of a 402 after one request without a payment", async () => {
    const { code, found, flaws } = told(await explainUrl("/both"));
    expect(found.map(({ kind }) => kind)).toEqual(["answer", "challenge", "challenge"]);
    expect(found[1]?.says).toBe("A seller asks 0.01 USDC on base-sepolia (x402 version 2)");
    // The body's offer has version 2's member for the amount.
    expect(flaws).toContainEqual(expect.stringMatching(/^accepts\[0\]\.maxAmountRequired: /));
    expect(code).toBe(1);
    expect(asked.map(({ line }) => line)).toEqual(["GET /both"]);
    for (const name of Object.keys(asked[0]?.headers ?? {})) expect(name).not.toMatch(/payment/);
  });

  it("takes the header of a page for people", async () => {
    const { code, found } = told(await explainUrl("/page"));
    expect([code, found.length]).toEqual([0, 2]);
  });

  it("asks with the method, headers and body that are written", async () => {
    await explainUrl("/page", "-X", "PUT", "-H", "X-Shop: 1", "-d", '{"a":1}');
    expect(asked[0]).toMatchObject({ line: "PUT /page", body: '{"a":1}' });
    expect(asked[0]?.headers).toMatchObject({ "x-shop": "1", "content-type": "application/json" });
    await explainUrl("/page", "--data", "a=1");
    expect(asked[0]).toMatchObject({ line: "POST /page", body: "a=1" });
    expect(asked[0]?.headers["content-type"]).toBe("application/x-www-form-urlencoded");
  });

  it.each([
    ["/free", 0, /answers 200: it asks for no payment/],
    ["/moved", 0, /answers 302: it leads elsewhere/],
    ["/broken", 0, /answers 500: the server has an error/],
  ])("%s", async (path, expected, says) => {
    const { code, found } = told(await explainUrl(path));
    expect([code, found.length]).toEqual([expected, 1]);
    expect(found[0]?.says).toMatch(says);
    expect(asked).toHaveLength(1);
  });

  it.each(["/empty", "/endless"])("%s: a 402 without a challenge is a flaw", async (path) => {
    const { code, flaws } = told(await explainUrl(path));
    expect(code).toBe(1);
    expect(flaws).toEqual([
      "answer: expected a PAYMENT-REQUIRED header, or a JSON body with accepts, got a 402 with neither",
    ]);
  });

  it("says why nobody answers", async () => {
    const { code, stdout, stderr } = await run(["explain", `http://127.0.0.1:${await freePort()}/x`]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^127\.0\.0\.1:\d+ does not answer: .*ECONNREFUSED/);
  });

  it.each([
    [["explain", "https://user:hunter2@x.example/"], /URL holds a password/],
    [["explain", "https://"], /URL must be a whole one/],
    [["explain", "https://x.example/", "-X", "TRACE"], /--request takes a method/],
    [["explain", "https://x.example/", "-X", "GET", "-d", "x"], /A GET has no body/],
    [["explain", "https://x.example/", "-H", "nonsense hunter2"], /--header takes "Name: value"/],
    [["explain", "https://x.example/", "-H", "X-PAYMENT: hunter2"], /tollgate sets this header itself/],
    [["explain", "https://x.example/", "-H", "X-A: hunter2\u0000"], /its value cannot be sent/],
    [["explain", "https://x.example/", "-d", "@/nowhere/hunter"], /cannot be read/],
    [["explain", "eyJ9", "-d", "x"], /belong to a URL/],
  ])("%# is refused before anything is asked, and no secret is repeated", async (argv, sentence) => {
    const { code, stdout, stderr } = await run(argv);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toContain("hunter2");
  });
});
