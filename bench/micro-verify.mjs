// What one signature check costs: ours on each installed backend against viem's recoverTypedDataAddress, in one run.
// Build first: npm run build && node bench/micro-verify.mjs. Read the ratios, not the microseconds.
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { recoverTypedDataAddress } from "viem/utils";
import { loadBackend, loadRecovery, RECOVERIES } from "../dist/src/chains/evm/backend.js";
import { isSignedBy, readSignature } from "../dist/src/chains/evm/signature.js";
import { authorizationDigest } from "../dist/src/chains/evm/typed-data.js";
import { keccak256 } from "../dist/src/keccak.js";

const asset = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const domain = { name: "USDC", version: "2", chainId: 84532, asset };
const names = ["from", "to", "value", "validAfter", "validBefore", "nonce"];
const kinds = ["address", "address", "uint256", "uint256", "uint256", "bytes32"];
const typed = {
  domain: { name: "USDC", version: "2", chainId: 84532, verifyingContract: asset },
  types: { TransferWithAuthorization: names.map((name, i) => ({ name, type: kinds[i] })) },
  primaryType: "TransferWithAuthorization",
};

const account = privateKeyToAccount(generatePrivateKey());
const message = {
  from: account.address.toLowerCase(),
  to: `0x${"70".repeat(20)}`,
  value: 10_000n,
  validAfter: 0n,
  validBefore: 1_893_456_000n,
  nonce: `0x${"11".repeat(32)}`,
};
const signature = await account.signTypedData({ ...typed, message });

const { keccak } = await loadBackend();
const cases = [];
for (const name of RECOVERIES) {
  const recover = await loadRecovery(name);
  if (!recover) {
    console.log(`${name}: not installed`);
    continue;
  }
  cases.push([name, () => isSignedBy({ name, recover, keccak }, domain, message, readSignature(signature))]);
}
cases.push(["digest alone", () => authorizationDigest(domain, message, keccak)]);
cases.push(["digest alone, keccak in JavaScript", () => authorizationDigest(domain, message, keccak256)]);
cases.push(["viem recoverTypedDataAddress", () => recoverTypedDataAddress({ ...typed, message, signature })]);

const ROUNDS = 9;
const CALLS = 200;
const times = new Map(cases.map(([name]) => [name, []]));
for (let round = 0; round < ROUNDS; round++) {
  // Interleaved, and in the other direction every second time, so that noise meets all of them.
  for (const [name, run] of round % 2 === 0 ? cases : cases.toReversed()) {
    const start = performance.now();
    for (let i = 0; i < CALLS; i++) await run();
    times.get(name).push(((performance.now() - start) * 1000) / CALLS);
  }
}
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const reference = median(times.get("viem recoverTypedDataAddress"));
for (const [name, values] of times) {
  const value = median(values);
  console.log(
    `${name.padEnd(36)} ${value.toFixed(0).padStart(6)} µs   ${(reference / value).toFixed(1).padStart(5)} × viem`,
  );
}
