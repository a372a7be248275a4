// After everything that a gateway does, and everything that it refuses: what stands in its log, its figures and its database is
// nothing that anybody could pay, sign, or sign in with.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, it } from "vitest";
import { createSandbox, createSolanaSandbox } from "../../src/testing/index.js";
import { bodyOf, settle } from "./facilitating.js";
import { decode, newEvmAddress, onEvm, receive } from "./receiving.js";
import { createGatewayWorld } from "./world.js";

const newSecret = () => randomBytes(24).toString("hex");

it("keeps every secret of a day out of log, figures and database", async () => {
  const [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  const secrets = new Map<string, string>();
  const secret = (name: string, text: string) => {
    secrets.set(name, text);
    return text;
  };
  const passphrase = secret("passphrase", `${newSecret()} of the day`);
  const [adminToken, metricsToken] = [secret("admin token", newSecret()), secret("metrics token", newSecret())];
  const nodeKey = secret("key of a node", newSecret());
  secret("settler", evm.settlerKey.slice(2));
  secret("settler on Solana", String(solana.settlerKey));
  const world = await createGatewayWorld({
    chains: { evm, solana },
    options: {
      ...{ passphrase, adminToken, metricsToken },
      networks: {
        "base-sepolia": { rpcUrl: `${evm.rpcUrl}/?key=${nodeKey}`, settler: evm.settlerKey },
        "solana-devnet": { rpcUrl: solana.rpcUrl, settler: solana.settlerKey },
        sepolia: { rpcUrl: `http://127.0.0.1:9/${nodeKey}` },
      },
    },
  });
  secret("API key", world.apiKey.slice(16));
  const admin = (path: string, body: object) => world.call("POST", `/admin${path}`, body, { key: adminToken });

  // A wallet with a key of its owner, and what it pays.
  const privateKey = generatePrivateKey();
  const { address } = privateKeyToAccount(privateKey);
  secret("private key", privateKey.slice(2));
  const limits = [{ network: "base-sepolia", perPayment: "1", perDay: "2" }];
  const lodging = { name: "own", mode: "test", family: "evm", limits };
  const lodged = await admin(`/accounts/${world.account}/wallets`, { ...lodging, secret: privateKey });
  expect(lodged.status).toBe(201);
  const wallets = [String(lodged.body.wallet?.id)];
  const made = await admin(`/accounts/${world.account}/keys`, { name: "own", mode: "test", scopes: ["send"], wallets });
  const key = secret("another API key", String(made.body.secret));
  await evm.native.setBalances([address], 10n ** 18n);
  const payee = newEvmAddress();
  const order = { walletAddress: address, recipientAddress: payee, amount: 0.001 };
  const headers = { "Idempotency-Key": secret("Idempotency-Key", newSecret()) };
  const sent = await world.call("POST", "/payment/send", order, { key, headers });
  expect(sent.status).toBe(200);
  const proof = String(sent.body.paymentProof);
  const secretOf = (text: string) => String((decode(text).payload as Record<string, unknown>).secret).slice(2);
  const paid = secret("secret of a payment that was sent", secretOf(proof));
  const built = await world.call("POST", "/transaction/send", order);
  expect(built.status).toBe(200);
  secret("secret of a transaction that was built", String(built.body.secret).slice(2));

  // What sellers and strangers do with what they have.
  const claim = { walletAddress: payee, paymentProof: proof, expectedAmount: 0.001 };
  expect((await world.call("POST", "/payment/receive", { ...claim, expectedAmount: 5 })).status).toBe(400);
  const usdc = onEvm(evm, "usdc", 2);
  const other = newEvmAddress();
  const body = await bodyOf(usdc, other);
  expect((await settle(world, body)).body.success).toBe(true);
  expect((await receive(world, usdc, other, `${proof}x`)).status).toBe(400);
  for (const wrong of [`${key}1`, `${key.slice(0, 16)}${"z".repeat(44)}`, passphrase]) {
    await world.call("GET", "/payment/status/x", undefined, { key: wrong });
  }
  await admin(`/accounts/${world.account}/wallets`, { ...lodging, secret: `${privateKey}00` });
  await admin(`/accounts/${world.account}/wallets`, { ...lodging, [privateKey]: 1 });
  await world.call("POST", "/payment/send", `{"paymentProof":"${proof}`);
  await world.call("POST", "/payment/send", { ...order, network: "sepolia" }, { key });
  await world.call("POST", "/transaction/send", { ...order, network: "sepolia" });
  await world.call("GET", `/payment/status/x?key=${key}`);
  const ready = await world.call("GET", "/readyz");
  expect(ready.body.checks).toContainEqual({ name: "sepolia", ok: false });
  const figures = await world.call("GET", "/metrics", undefined, { key: metricsToken });

  const file = String("file" in (world.options.database ?? {}) && Reflect.get(world.options.database ?? {}, "file"));
  const database = [file, `${file}-wal`].filter(existsSync).map((one) => readFileSync(one).toString("latin1"));
  const places = {
    log: world.log.lines.join("\n"),
    figures: figures.text,
    database: database.join(),
    ready: ready.text,
  };
  expect(places.log.length * places.database.length).toBeGreaterThan(1e6);
  const found = [...secrets].flatMap(([name, text]) =>
    Object.entries(places)
      .filter(([, place]) => place.toLowerCase().includes(text.toLowerCase()))
      .map(([place]) => `${name} in ${place}`),
  );
  expect(found).toEqual([]);
  // A seller's record keeps the proof that it is settled by, to take it up after a crash; its log does not.
  expect((await world.call("POST", "/payment/receive", claim)).status).toBe(200);
  expect(world.log.lines.join()).not.toContain(paid);
  await world.close();
  await Promise.all([evm.close(), solana.close()]);
}, 60_000);
