// What one payment on Solana costs to check without a call: ours against the published facilitator's verification with a node
// that answers at once, and against web3.js and tweetnacl doing the same work. In one run, interleaved.
// Times are the CPU's own, all threads, because other work on the machine disturbs them least.
// Build first: npm run build && node bench/micro-verify-solana.mjs. Read the ratios, not the microseconds.
import { PublicKey, VersionedTransaction } from "@solana/web3.js";
import { installLibraries } from "./lib/install.mjs";

installLibraries();
const { default: nacl } = await import("tweetnacl");
const { ExactSvmScheme } = await import("@x402/svm/exact/facilitator");
const { createSolanaBuyer } = await import("./lib/payments-solana.mjs");
const { SOLANA_TERMS } = await import("./lib/terms.mjs");
const { median, spread } = await import("./lib/measure.mjs");
const { createNodeVerifier } = await import("../dist/src/chains/solana/ed25519.js");
const { identifyTransaction } = await import("../dist/src/chains/solana/identity.js");
const { DEFAULT_CAPS } = await import("../dist/src/chains/solana/terms.js");
const { decodeTransaction } = await import("../dist/src/chains/solana/transaction.js");
const { verifyStatic } = await import("../dist/src/chains/solana/verify-static.js");
const nodeCrypto = await import("node:crypto");

const { network, asset, payTo, amount, feePayer } = SOLANA_TERMS;
const offer = {
  scheme: "exact",
  network,
  asset,
  payTo,
  amount,
  maxTimeoutSeconds: 60,
  extra: { feePayer, decimals: 6 },
};
const ROUNDS = 15;
const CALLS = 200;
/** More than any cache of keys holds. */
const BUYERS = 2_000;

const regular = createSolanaBuyer(offer, 2);
const sets = {
  regular: Array.from({ length: BUYERS }, () => regular()),
  fresh: Array.from({ length: BUYERS }, () => createSolanaBuyer(offer, 2)()),
};

const terms = {
  ...DEFAULT_CAPS,
  network,
  mint: asset,
  payTo,
  amount: BigInt(amount),
  feePayer,
  ourSigners: [feePayer],
};
const ours = async (transaction) => (await verifyStatic(transaction, terms)).ok;
const oursWhole = async (transaction) => (await identifyTransaction({ transaction })).ok && ours(transaction);

const signer = {
  getAddresses: () => [feePayer],
  signTransaction: async (transaction) => transaction,
  simulateTransaction: async () => undefined,
};
const scheme = new ExactSvmScheme(signer);
const published = async (transaction) =>
  (await scheme.verify({ x402Version: 2, accepted: offer, payload: { transaction } }, offer)).isValid;

const [BUDGET, ATA] = ["ComputeBudget111111111111111111111111111111", "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"];
const TOKEN = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";

/** The least that a careful seller would write by hand: signature, layout, isolation, mint, derived account, amount. */
function byHand(text) {
  const { message, signatures } = VersionedTransaction.deserialize(Buffer.from(text, "base64"));
  const { staticAccountKeys: keys, compiledInstructions, addressTableLookups, header } = message;
  if (header.numRequiredSignatures !== 2 || addressTableLookups.length > 0) return false;
  if (keys[0].toBase58() !== feePayer) return false;
  if (!nacl.sign.detached.verify(message.serialize(), signatures[1], keys[1].toBytes())) return false;
  const [limit, price, transfer, ...rest] = compiledInstructions;
  if ([limit, price].some((one) => keys[one.programIdIndex].toBase58() !== BUDGET) || rest.length > 4) return false;
  if (keys[transfer.programIdIndex].toBase58() !== TOKEN || transfer.data[0] !== 12) return false;
  if (compiledInstructions.some(({ accountKeyIndexes }) => accountKeyIndexes.includes(0))) return false;
  const [, mint, destination, authority] = transfer.accountKeyIndexes;
  const seeds = [new PublicKey(payTo), new PublicKey(TOKEN), keys[mint]].map((key) => key.toBuffer());
  const [derived] = PublicKey.findProgramAddressSync(seeds, new PublicKey(ATA));
  const moved = Buffer.from(transfer.data).readBigUInt64LE(1);
  return (
    keys[mint].toBase58() === asset && keys[destination].equals(derived) && authority === 1 && moved === terms.amount
  );
}

const verifier = createNodeVerifier(nodeCrypto);
const decoded = decodeTransaction(sets.regular[0]).transaction;

const cases = [
  ["tollgate, a buyer seen before", sets.regular, ours],
  ["tollgate, a new buyer each time", sets.fresh, ours],
  ["tollgate, identified and checked", sets.fresh, oursWhole],
  ["@x402/svm verify, instant node", sets.fresh, published],
  ["web3.js and tweetnacl by hand", sets.fresh, byHand],
  [
    "ed25519 alone, a key seen before",
    sets.regular,
    () => verifier(decoded.keys[1], decoded.message, decoded.signatures[1]),
  ],
];
const REFERENCE = "@x402/svm verify, instant node";

const times = new Map(cases.map(([name]) => [name, []]));
const next = new Map(cases.map(([name]) => [name, 0]));

async function burst([name, payments, check]) {
  let at = next.get(name);
  const start = process.cpuUsage();
  for (let i = 0; i < CALLS; i++)
    if (!(await check(payments[at++ % BUYERS]))) throw new Error(`${name} refuses a payment`);
  const { user, system } = process.cpuUsage(start);
  times.get(name).push((user + system) / CALLS);
  next.set(name, at);
}

for (const one of cases) await burst(one);
for (const all of times.values()) all.length = 0;
// Interleaved, and in the other direction every second time, so that noise meets all of them.
for (let round = 0; round < ROUNDS; round++) {
  for (const one of round % 2 === 0 ? cases : cases.toReversed()) await burst(one);
}
console.log(
  `${ROUNDS} rounds of ${CALLS} payments; CPU µs of the median round, and how often it fits into ${REFERENCE}`,
);
for (const [name, own] of times) {
  const faster = own.map((time, round) => times.get(REFERENCE)[round] / time);
  console.log(
    `${name.padEnd(36)} ${median(own).toFixed(0).padStart(6)} µs   ${median(faster).toFixed(1).padStart(5)} × (±${(spread(faster) * 100).toFixed(0)} %)`,
  );
}
