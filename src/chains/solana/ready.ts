// Start-up checks of one cluster against the live chain: the right genesis on every URL, mints that are what the offers say,
// a token account that can receive, fee payers with SOL. A mismatch names both values and what to do; a node that cannot be
// reached is no mismatch. Source: design §6, F86, F87.

import * as z from "zod/mini";
import { findNetwork, tokenByAddress } from "../../networks.js";
import type { Readiness, ReadinessProblem } from "../../receive/receiver.js";
import type { Requirement, SplRequirement } from "../../requirement.js";
import { type Account, readAccounts, readTokenAccount } from "./accounts.js";
import { decodeAddress } from "./base58.js";
import type { SolanaChain } from "./chain.js";
import { needsOf } from "./gas.js";
import { judgeMint } from "./mint.js";
import { checkNative } from "./native-ready.js";
import { programAddress, programOf } from "./programs.js";
import { failureOf } from "./rpc.js";
import { associatedTokenAddress } from "./token-account.js";

type Problems = readonly ReadinessProblem[];
type Checked = { readonly ok: true; readonly problems: Problems } | { readonly ok: false; readonly message: string };

/** Checks a cluster for all requirements on it. Never rejects. */
export async function checkReadiness(
  chain: SolanaChain,
  requirements: readonly Requirement[],
  signal: AbortSignal,
): Promise<Readiness> {
  const wrongCluster = await checkGenesis(chain, signal);
  if (wrongCluster) return wrongCluster;
  const spl = new Map(
    requirements.filter((one) => one.method === "spl").map((one) => [`${one.asset}|${one.payTo}`, one]),
  );
  const checks = [...spl.values()].map((requirement) => checkToken(chain, requirement, signal));
  const native = requirements.filter((one) => one.method === "transaction");
  checks.push(...native.map((requirement) => checkNative(chain, requirement, signal)));
  if (spl.size > 0) checks.push(checkSettlers(chain, [...spl.values()], signal));
  const results = await Promise.all(checks);
  const problems = results.flatMap((result) => (result.ok ? result.problems : []));
  if (problems.length > 0) return { state: "misconfigured", problems };
  const failed = results.find((result) => !result.ok);
  return failed ? { state: "unreachable", message: failed.message } : { state: "ready" };
}

/** Each URL by itself: one wrong URL among several would answer only now and then. */
async function checkGenesis(
  { rpc, network, logger }: SolanaChain,
  signal: AbortSignal,
): Promise<Readiness | undefined> {
  const replies = await Promise.all(rpc.each.map((one) => one.call("getGenesisHash", [], { signal })));
  const problems: ReadinessProblem[] = [];
  const faults: string[] = [];
  for (const [i, reply] of replies.entries()) {
    if (reply.ok) continue;
    if (reply.kind === "fault" && reply.genesis) {
      const expected = clusterOf(network);
      const remedy = `set rpcUrl of ${findNetwork(network)?.name ?? network} to a node of that cluster: ${rpc.each[i]?.host} is none`;
      problems.push({ check: "cluster", expected, got: clusterOf(`solana:${reply.genesis.got}`), remedy });
    } else faults.push(failureOf(reply).message);
  }
  if (problems.length > 0) return { state: "misconfigured", problems };
  // Whoever asked no longer wants to know: that says nothing of the nodes.
  for (const message of signal.aborted ? [] : faults) logger?.warn("an RPC URL cannot be used", { network, message });
  return faults.length === replies.length ? { state: "unreachable", message: faults.join("; ") } : undefined;
}

/** A cluster as sellers call it, by its genesis hash or the first 32 characters of it. */
function clusterOf(id: string): string {
  const known = findNetwork(id.slice(0, "solana:".length + 32));
  const hash = id.slice("solana:".length);
  if (!known) return decodeAddress(hash) ? `the genesis hash ${hash}` : hash;
  return known.testnet ? known.name : `${known.name} (main network)`;
}

const epochSchema = z.object({ epoch: z.int() });

async function checkToken(chain: SolanaChain, requirement: SplRequirement, signal: AbortSignal): Promise<Checked> {
  const { asset, payTo, network, extra } = requirement;
  const program = extra.tokenProgram ?? programAddress("token");
  const own = await associatedTokenAddress(payTo, asset, program);
  if (own === undefined) {
    const remedy = `correct payTo and the token on ${network}`;
    const expected = "a mint, a payee and a token program";
    return { ok: true, problems: [{ check: "addresses", expected, got: `${asset}, ${payTo}, ${program}`, remedy }] };
  }
  const [read, info] = await Promise.all([
    readAccounts(chain.rpc, [asset, own, payTo], { signal }),
    chain.rpc.call("getEpochInfo", [{ commitment: "confirmed" }], { signal }),
  ]);
  if (!read.ok) return read;
  if (!info.ok) return failureOf(info);
  const epoch = epochSchema.safeParse(info.result);
  if (!epoch.success) return { ok: false, message: "the node's epoch cannot be read" };
  const [mint = null, account = null, payee = null] = read.accounts;
  const table = findNetwork(network);
  const problems = judgeMint(mint, requirement, {
    listed: table !== undefined && tokenByAddress(table, asset) !== undefined,
    allowed: chain.allowed.get(asset) ?? [],
    epoch: epoch.data.epoch,
  });
  return { ok: true, problems: [...problems, ...checkPayee(requirement, { own, program, account, payee })] };
}

interface Payee {
  /** The payee's derived token account. */
  readonly own: string;
  readonly program: string;
  readonly account: Account | null;
  readonly payee: Account | null;
}

/** The seller opens the account once: no payment of a buyer may create it at our cost (faults F87, A27). */
function checkPayee({ asset, payTo, network }: SplRequirement, { own, program, account, payee }: Payee): Problems {
  const held = payee && isToken(payee) ? readTokenAccount(payee) : undefined;
  if (held) {
    const remedy = `set payTo of ${network} to the owner, ${held.owner}`;
    return [{ check: "payTo", expected: "the owner of a token account", got: `a token account (${payTo})`, remedy }];
  }
  const token = account && account.owner === program ? readTokenAccount(account) : undefined;
  const expected = `an account of ${payTo} for ${asset}`;
  const check = `token account ${own}`;
  if (!token) {
    const got = account ? `an account of ${account.owner}` : "nothing at this address";
    const remedy = `open it once: spl-token create-account ${asset} --owner ${payTo} -u ${monikerOf(network)} (or send any amount of the token to ${payTo})`;
    return [{ check, expected, got, remedy, ...(!account && { passing: true }) }];
  }
  if (token.mint !== asset || token.owner !== payTo) {
    const remedy = `give the account back to ${payTo}, or set another payTo on ${network}`;
    return [{ check, expected, got: `an account of ${token.owner} for ${token.mint}`, remedy }];
  }
  if (!token.frozen) return [];
  return [
    { check, expected: "an account that is not frozen", got: "a frozen account", remedy: "ask the token's issuer" },
  ];
}

/** How Solana's own tools call a cluster. */
const monikerOf = (network: string): string =>
  findNetwork(network)
    ?.name.replace(/^solana$/, "solana-mainnet-beta")
    .slice("solana-".length) ?? network;

function isToken({ owner }: Account): boolean {
  const program = programOf(decodeAddress(owner));
  return program === "token" || program === "token2022";
}

/** Whoever stands in the offers must be able to pay; another one of ours only pays for payments that name him. */
async function checkSettlers(
  { rpc, settlers, caps, network, logger, gas }: SolanaChain,
  requirements: readonly SplRequirement[],
  signal: AbortSignal,
): Promise<Checked> {
  const offered = new Set(requirements.map(({ extra }) => extra.feePayer));
  const problems: ReadinessProblem[] = [];
  for (const feePayer of offered) {
    if (settlers.has(feePayer)) continue;
    const remedy = `use a settler of ${network} as the offer's fee payer`;
    problems.push({ check: "fee payer", expected: [...settlers.keys()].join(" or "), got: feePayer || "none", remedy });
  }
  const addresses = [...settlers.keys()];
  const read = await readAccounts(rpc, addresses, { signal });
  if (!read.ok) return read;
  const needed = needsOf(caps);
  for (const [i, address] of addresses.entries()) {
    const lamports = read.accounts[i]?.lamports ?? 0n;
    gas?.seen({ network, settler: address }, lamports, needed);
    if (lamports >= needed) continue;
    const remedy = `send SOL to ${address} on ${network}`;
    const facts = { expected: `at least ${needed} lamports`, got: `${lamports} lamports`, remedy };
    if (offered.has(address)) problems.push({ check: `SOL of settler ${address}`, ...facts, passing: true });
    else logger?.warn("a settler has not enough SOL", { network, settler: address, ...facts });
  }
  return { ok: true, problems };
}
