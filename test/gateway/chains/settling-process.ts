// A gateway of its own, as far as it settles: it is bundled and run as a program by settler-nonces.test.ts. It settles the proofs
// of its job all at once and prints a line for each outcome; one of them may be told to stop where its nonce is taken and nothing
// has left yet, so that whoever ends the process leaves that nonce behind.
import { existsSync, readFileSync } from "node:fs";
import type { AccountNonces } from "../../../src/gateway/database/database.js";
import { openDatabase } from "../../../src/gateway/database/open.js";
import { openNetworks } from "../../../src/gateway/networks.js";
import type { GatewaySettings } from "../../../src/gateway/settings.js";
import { findNetwork } from "../../../src/networks.js";
import type { AuthorizationProof } from "../../../src/proof.js";
import type { Settlement } from "../../../src/receive/receiver.js";

export interface Job {
  readonly database: GatewaySettings["database"];
  readonly rpcUrl: string;
  readonly settler: `0x${string}`;
  readonly proofs: readonly AuthorizationProof[];
  /** Begins when this file is there, and says that it waits for it. */
  readonly beginAt?: string;
  /** The proof whose settlement stops before its first byte, by its place in the list. */
  readonly stopAt?: number;
}

export interface Line {
  readonly proofId: string;
  readonly settlement: Settlement | { readonly outcome: "ready" | "stopped" };
  /** Transactions that were signed for it. */
  readonly announced: number;
}

/** JSON with whole numbers of any size. */
export const toText = (job: Job): string =>
  JSON.stringify(job, (_, value: unknown) => (typeof value === "bigint" ? { $bigint: `${value}` } : value));

const isBig = (value: unknown): value is { $bigint: string } =>
  typeof value === "object" && value !== null && "$bigint" in value;
const fromText = (text: string): Job =>
  JSON.parse(text, (_, value: unknown) => (isBig(value) ? BigInt(value.$bigint) : value)) as Job;

const silent = { debug() {}, info() {}, warn() {}, error() {} };
export const quiet = { ...silent, child: () => quiet };

/** The networks of a gateway that settles on the sandbox's chain; `nonces`: faults of its ledger. */
export async function openSettling(
  { rpcUrl, settler, database: where }: Omit<Job, "proofs" | "stopAt">,
  nonces?: Partial<AccountNonces>,
) {
  const network = findNetwork("base-sepolia");
  if (!network) throw new Error("the network of the sandbox is unknown");
  const database = await openDatabase(where);
  const one = { network, options: { rpcUrl }, settler, isDefault: true, confirmations: 1, assets: [] };
  const parts = { database: { nonces: { ...database.nonces, ...nonces } }, logger: quiet };
  const networks = await openNetworks({ networks: [one] }, parts);
  return {
    database,
    networks,
    settle: (proof: AuthorizationProof, sending = async (_transaction: string) => {}): Promise<Settlement> => {
      const resource = { url: "https://shop.example/report", description: "", mimeType: "" };
      const context = { settlementId: proof.id, resource, deadlineAt: Date.now() + 60_000, sending };
      return networks.all[0]!.receiver.settle(proof, context);
    },
    /** Loads and asks whatever the first settlement would have to. */
    warmUp: ({ requirement }: AuthorizationProof) =>
      networks.all[0]!.receiver.ready([requirement], AbortSignal.timeout(10_000)),
    async close() {
      await networks.close();
      await database.close();
    },
  };
}

const print = (line: Line): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

async function run(job: Job): Promise<void> {
  const gateway = await openSettling(job);
  const stopped = ({ id }: AuthorizationProof) => {
    print({ proofId: id, settlement: { outcome: "stopped" }, announced: 1 });
    return new Promise<void>(() => {});
  };
  if (job.beginAt !== undefined) {
    await gateway.warmUp(job.proofs[0]!);
    print({ proofId: "", settlement: { outcome: "ready" }, announced: 0 });
    while (!existsSync(job.beginAt)) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await Promise.all(
    job.proofs.map(async (proof, index) => {
      let announced = 0;
      const settlement = await gateway.settle(proof, async () => {
        announced += 1;
        if (index === job.stopAt) await stopped(proof);
      });
      print({ proofId: proof.id, settlement, announced });
    }),
  );
  await gateway.close();
}

const [, , jobFile] = process.argv;
if (jobFile?.endsWith(".job.json")) await run(fromText(readFileSync(jobFile, "utf8")));
