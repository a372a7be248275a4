// A paying fetch and passes: it keeps none and sends what its caller sends, so one payment opens as much as was sold.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { memoryStore } from "tollgate";
import { evmWallet, payingFetch } from "tollgate/client";
import { createPaywall } from "tollgate/express";
import { createSandbox } from "tollgate/testing";
import { expect, it, onTestFinished } from "vitest";

it("a pass that is sent along is used up before the next payment, which brings another one", async () => {
  const sandbox = await createSandbox();
  onTestFinished(() => sandbox.close());
  const { network, payTo } = sandbox;
  const shop = createPaywall({ payTo, network, receive: sandbox.receive(), store: memoryStore() });
  const app = express();
  app.get("/report", shop("$0.01", { access: { uses: 3, for: "1d" } }), (_req, res) => void res.send("the report"));
  const server = createServer(app).listen(0, "127.0.0.1");
  onTestFinished(async () => {
    server.close();
    await shop.close();
  });
  await shop.ready();
  const account = await sandbox.newBuyer();
  const pay = payingFetch({ wallets: [evmWallet(account)], budget: { perRequest: "$0.10", perDay: "$5" } });
  let pass: string | null = null;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/report`;
  const debits: number[] = [];
  for (let call = 0; call < 4; call += 1) {
    const response: Response = await pay(url, { headers: pass ? { "Payment-Pass": pass } : {} });
    expect([response.status, await response.text()]).toEqual([200, "the report"]);
    pass = response.headers.get("Payment-Pass") ?? pass;
    debits.push((await sandbox.token.transfers({ from: account.address })).length);
  }
  expect(debits).toEqual([1, 1, 1, 2]);
});
