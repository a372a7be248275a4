// One process through which many distinct proofs go, for the rig: PROOFS of them, each sold once, with a receiver that settles nothing.
// CHECKS=signatures has every proof signed and checked for real, and without it the signature is not looked at. Its clock runs
// SPEED times as fast as it works, so that what a payment leaves behind comes to its end within the run. It prints one line of JSON
// for each tenth.
import { randomBytes } from "node:crypto";
import secp256k1 from "secp256k1";
import { memoryStore } from "tollgate";
import { createPaywall } from "tollgate/web";
import { addressOf, loadBackend } from "../../dist/src/chains/evm/backend.js";
import { isSignedBy, readSignature } from "../../dist/src/chains/evm/signature.js";
import { authorizationDigest } from "../../dist/src/chains/evm/typed-data.js";

const { PROOFS, CHECKS, SPEED } = process.env;
const [proofs, speed] = [Number(PROOFS), Number(SPEED)];
const realNow = Date.now;
const begun = realNow();
// By the time of the processor: no payment runs out while others have the machine, where a second is worth minutes.
const worked = process.cpuUsage();
Date.now = () => {
  const { user, system } = process.cpuUsage(worked);
  return Math.floor(begun + ((user + system) / 1000) * speed);
};

const chainId = 84532;
const hex = (bytes) => `0x${randomBytes(bytes).toString("hex")}`;
const backend = await loadBackend();
let checked = 0;

const receiver = {
  name: "none",
  networks: [`eip155:${chainId}`],
  settleMs: () => 1_000,
  ready: async () => ({ state: "ready" }),
  async verify({ requirement, authorization, signature, payer }) {
    if (CHECKS !== "signatures") return { outcome: "valid", payer };
    const { name, version } = requirement.extra;
    const domain = { name, version, chainId, asset: requirement.asset };
    if (!(await isSignedBy(backend, domain, authorization, readSignature(signature)))) {
      return { outcome: "invalid", code: "signature_invalid" };
    }
    checked += 1;
    return { outcome: "valid", payer };
  },
  async settle({ payer }, { sending }) {
    const transaction = hex(32);
    await sending(transaction);
    return { outcome: "settled", transaction, payer };
  },
  lookup: async () => ({ outcome: "unknown", message: "there is no chain" }),
  async close() {},
};

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const limits = { leaseMs: 600_000 };
const store = memoryStore();
// Minutes, because this clock makes seconds of milliseconds.
const terms = { maxTimeoutSeconds: 300, handlerTimeoutMs: 1_000 };
const seller = { payTo: hex(20), network: "base-sepolia", receive: receiver, store, logger: silent, limits };
const pay = createPaywall({ ...seller, ...terms });
const shop = pay("$0.01")(() => new Response("the goods"));
await pay.ready();

const url = "https://shop.example/report";
const challenge = await shop(new Request(url));
const { accepts, resource } = JSON.parse(atob(challenge.headers.get("payment-required")));
const [offer] = accepts;
// By the native library: a hundred times as fast as a wallet.
const domain = { name: offer.extra.name, version: offer.extra.version, chainId, asset: offer.asset };
function sign(key, { from, to, value, validAfter, validBefore, nonce }) {
  const times = { validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) };
  const digest = authorizationDigest(domain, { from, to, value: BigInt(value), ...times, nonce }, backend.keccak);
  const { signature, recid } = secp256k1.ecdsaSign(digest, key);
  return `0x${Buffer.from(signature).toString("hex")}${(27 + recid).toString(16)}`;
}
// A few keys with many nonces each: what is distinct is the proof.
const keys = CHECKS === "signatures" ? Array.from({ length: 100 }, () => randomBytes(32)) : [];
const payers = keys.map((key) => addressOf(secp256k1.publicKeyCreate(key, false).subarray(1), backend.keccak));

async function sell(index) {
  const at = index % keys.length;
  const now = Math.floor(Date.now() / 1000);
  const message = {
    from: payers[at] ?? hex(20),
    to: offer.payTo,
    value: offer.amount,
    validAfter: String(now - 600),
    validBefore: String(now + offer.maxTimeoutSeconds),
    nonce: hex(32),
  };
  const signature = keys[at] ? sign(keys[at], message) : hex(65);
  const payment = { x402Version: 2, accepted: offer, resource, payload: { signature, authorization: message } };
  const header = Buffer.from(JSON.stringify(payment)).toString("base64");
  const response = await shop(new Request(url, { headers: { "PAYMENT-SIGNATURE": header } }));
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${body}`);
}

const AT_ONCE = 20;
const tenth = Math.floor(proofs / 10);
for (let done = 0; done < proofs; done += AT_ONCE) {
  await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => sell(done + at)));
  if ((done + AT_ONCE) % tenth !== 0) continue;
  globalThis.gc();
  const { heapUsed: heap, rss } = process.memoryUsage();
  console.log(JSON.stringify({ sold: done + AT_ONCE, checked, heap, rss, seconds: (realNow() - begun) / 1000 }));
}
