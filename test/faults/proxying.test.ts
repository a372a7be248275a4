// What a handler that proxies sends upstream.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { FRAMEWORKS } from "../e2e/seller.js";
import { ask, signFor } from "./buyer.js";
import { openShop } from "./shop.js";

describe.each(FRAMEWORKS)("a handler that proxies on %s", (framework) => {
  it("F17: sends the seller's one credential upstream and no payment header", async () => {
    const seen: IncomingHttpHeaders[] = [];
    const upstream = createServer((request, response) => {
      seen.push(request.headers);
      response.end("the goods");
    });
    await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
    const target = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const shop = await openShop(framework, {
      routes: [
        {
          path: "/proxy",
          handler: async ({ headers }) => {
            const { host, connection, ...own } = headers as Record<string, string>;
            return { body: await (await fetch(target, { headers: { ...own, authorization: "K" } })).text() };
          },
        },
      ],
    });
    for (const version of [1, 2] as const) {
      const { headers } = await signFor(`${shop.url}/proxy`, { version });
      const got = await ask(`${shop.url}/proxy`, { headers: { ...headers, authorization: "Bearer of the buyer" } });
      expect([got.status, got.body]).toEqual([200, "the goods"]);
    }
    for (const headers of seen) {
      expect(headers.authorization).toBe("K");
      expect(headers).not.toHaveProperty("payment-signature");
      expect(headers).not.toHaveProperty("x-payment");
    }
    expect(seen).toHaveLength(2);
    await shop.close();
    await new Promise((resolve) => upstream.close(resolve));
  });
});
