// Hosted wallets by the command line: keys come from a prompt or standard input and are printed nowhere; limits are exact; the
// passphrase is asked for, checked, and rotated.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { privateKeyToAddress } from "viem/accounts";
import { beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/gateway/database/open.js";
import { openCustody } from "../../src/gateway/wallets/custody.js";
import { FEE_PAYER, SOLANA_KEY, SOLANA_SEED } from "../support/configurations.js";
import { ownFolder, run } from "./cli.js";

const PASSPHRASE = "orbit velvet mango tractor lantern";
const SECOND = "copper willow engine harbour satin";
const KEY = `0x${"a1".repeat(32)}` as const;
/** Each passphrase takes half a second and 128 MiB on a quiet machine, and a test takes up to eight. */
const timeout = 90_000;

let env: Record<string, string>;
let folder: string;
beforeEach(async () => {
  const own = ownFolder();
  folder = own.folder;
  env = { TOLLGATE_DATABASE_FILE: own.database, TOLLGATE_WALLET_PASSPHRASE: PASSPHRASE };
  await run(["accounts", "create", "--name", "shop"], { env });
});

const tollgate = (...argv: string[]) => run(argv, { env });
const importKey = (input: string, ...more: string[]) =>
  run(["wallets", "import", "--name", "agent", ...more], { env, input });
const without = (name: string) => Object.fromEntries(Object.entries(env).filter(([one]) => one !== name));

interface Printed {
  readonly id: string;
  readonly address: string;
  readonly limits: readonly {
    readonly asset: string;
    readonly perPaymentAtomic: string;
    readonly perDayAtomic: string;
  }[];
}
const read = (text: string) => JSON.parse(text) as Printed;

describe("an imported key", { timeout }, () => {
  it.each([
    ["evm", `${KEY}\n`, privateKeyToAddress(KEY)],
    ["evm", `${KEY.slice(2)}\r\n`, privateKeyToAddress(KEY)],
    ["solana", SOLANA_KEY, FEE_PAYER],
    ["solana", SOLANA_SEED, FEE_PAYER],
  ])("of %s is read from standard input and printed nowhere", async (family, input, address) => {
    const { code, stdout, stderr } = await importKey(input, "--family", family);
    expect([code, read(stdout).address]).toEqual([0, address]);
    expect(stdout + stderr).not.toContain(input.trim().slice(2, 20));
    expect(readFileSync(env.TOLLGATE_DATABASE_FILE ?? "").includes(Buffer.from(input.trim().slice(2)))).toBe(false);
  });

  it("is typed unseen at a terminal", async () => {
    const { code, stdout, stderr } = await run(["wallets", "import", "--name", "a", "--family", "evm"], {
      ...{ env, terminal: true },
      input: `${KEY}\n`,
    });
    expect([code, stdout]).toEqual([0, expect.stringContaining(privateKeyToAddress(KEY))]);
    expect(stderr).toContain("Private key: ");
    expect(stdout + stderr).not.toContain("a1a1a1");
  });

  it.each([
    ["nothing", "", "evm"],
    ["no key", "hunter2", "evm"],
    ["a key of the other family", SOLANA_KEY, "evm"],
    ["zero", `0x${"0".repeat(64)}`, "evm"],
    ["several lines", `${KEY}\n${KEY}\n`, "evm"],
    ["half a pair", FEE_PAYER, "solana"],
  ])("that is %s is refused and not repeated", async (_name, input, family) => {
    const { code, stdout, stderr } = await importKey(input, "--family", family);
    expect([code, stdout]).toEqual([2, ""]);
    if (input !== "") expect(stderr).not.toContain(input.slice(0, 20));
    expect(JSON.parse((await tollgate("wallets", "list")).stdout)).toEqual([]);
  });

  it("is lodged once", async () => {
    await importKey(KEY, "--family", "evm");
    expect(await importKey(KEY, "--family", "evm")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("already"),
    });
  });
});

describe("limits", { timeout }, () => {
  it("are whole units in atomic units, exactly, of a token or of the network's own currency", async () => {
    const { stdout } = await tollgate(
      ...["wallets", "create", "--name", "a", "--family", "evm"],
      ...[
        "--limit",
        "base-sepolia USDC 5.000001/payment 50/day",
        "--limit",
        "eip155:11155111 0.000000000000000001/payment 1/day",
      ],
    );
    expect(read(stdout).limits).toMatchObject([
      { network: "eip155:84532", perPaymentAtomic: "5000001", perDayAtomic: "50000000" },
      { network: "eip155:11155111", asset: "native", perPaymentAtomic: "1", perDayAtomic: "1000000000000000000" },
    ]);
  });

  it("of a token of the operator's own have its decimals from the settings", async () => {
    const config = join(folder, "gateway.json");
    const own = { address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", symbol: "SHOP", decimals: 2 };
    const networks = { "base-sepolia": { rpcUrl: "https://rpc.example", assets: [own] } };
    writeFileSync(config, JSON.stringify({ networks }));
    const limit = ["--limit", "base-sepolia SHOP 1.25/payment 10/day"];
    const create = (...more: string[]) =>
      tollgate("wallets", "create", "--name", "a", "--family", "evm", ...limit, ...more);
    expect(read((await create("--config", config)).stdout).limits).toMatchObject([{ perPaymentAtomic: "125" }]);
    expect(await create()).toMatchObject({ code: 2, stderr: expect.stringContaining("expected one of ETH, USDC") });
  });

  it("are replaced, and taken away, by the wallet's id or address", async () => {
    const { id, address } = read((await tollgate("wallets", "create", "--name", "a", "--family", "evm")).stdout);
    const limited = await tollgate("wallets", "limit", address, "--limit", "base-sepolia ETH 0.1/payment 1/day");
    expect(read(limited.stdout)).toMatchObject({ id, limits: [{ asset: "native" }] });
    await tollgate("wallets", "limit", id, "--limit", "base-sepolia USDC 1/payment 2/day");
    const [listed] = JSON.parse((await tollgate("wallets", "list")).stdout) as Printed[];
    expect(listed?.limits).toMatchObject([{ symbol: "USDC" }]);
    expect(read((await tollgate("wallets", "limit", id, "--none")).stdout).limits).toEqual([]);
    expect((await tollgate("wallets", "limit", id, "--limit", "base ETH 1/payment 2/day")).stderr).toMatch(
      /test wallet/,
    );
    expect(await tollgate("wallets", "limit", "wal_x", "--none")).toMatchObject({ code: 1 });
  });

  it("stand in the list, where a wallet without any says that nothing is sent", async () => {
    await tollgate(
      "wallets",
      "create",
      "--name",
      "a",
      "--family",
      "solana",
      "--limit",
      "solana-devnet SOL 0.1/payment 1/day",
    );
    await tollgate("wallets", "create", "--name", "b", "--family", "solana");
    const { stdout } = await run(["wallets", "list"], { env, terminal: true });
    expect(stdout).toMatch(/test +a +SOL 0.1\/payment 1\/day on solana:/);
    expect(stdout).toMatch(/test +b +none: nothing is sent/);
  });
});

describe("a wallet that is removed", { timeout }, () => {
  it("is asked about at a terminal, needs --yes elsewhere, and keeps its key nowhere", async () => {
    const { id } = read((await tollgate("wallets", "create", "--name", "a", "--family", "evm")).stdout);
    expect(await tollgate("wallets", "remove", id)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--yes"),
    });
    const answer = (input: string) => run(["wallets", "remove", id], { env, terminal: true, input });
    expect(await answer("n\n")).toMatchObject({ code: 1, stderr: expect.stringContaining("Nothing was done") });
    expect(await answer("y\n")).toMatchObject({ code: 0 });
    expect(await tollgate("wallets", "remove", id, "--yes")).toMatchObject({ code: 1 });
  });
});

describe("the passphrase", { timeout }, () => {
  const create = (more: Parameters<typeof run>[1] = {}) =>
    run(["wallets", "create", "--name", "a", "--family", "evm"], {
      env: without("TOLLGATE_WALLET_PASSPHRASE"),
      ...more,
    });

  it("is asked for at a terminal, the first one of a database twice", async () => {
    expect(await create({ terminal: true, input: `${PASSPHRASE}\n${SECOND}\n` })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("not the same"),
    });
    const first = await create({ terminal: true, input: `${PASSPHRASE}\n${PASSPHRASE}\n` });
    expect(first.code).toBe(0);
    expect(first.stderr).toMatch(/New wallet passphrase: \nNew wallet passphrase again: \n/);
    expect((await create({ terminal: true, input: `${PASSPHRASE}\n` })).code).toBe(0);
    const wrong = await create({ terminal: true, input: `${SECOND}\n` });
    expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
    expect(wrong.stderr).not.toContain(SECOND);
  });

  it("must be set where nobody can be asked, and is never weak", async () => {
    expect(await create()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("TOLLGATE_WALLET_PASSPHRASE_FILE"),
    });
    const weak = { ...env, TOLLGATE_WALLET_PASSPHRASE: "changeme" };
    expect(await create({ env: weak })).toMatchObject({ code: 2, stderr: expect.stringContaining("at least 12") });
  });

  it("is rotated in one step: the new one opens every wallet, the old one none", async () => {
    await importKey(KEY, "--family", "evm");
    await tollgate("wallets", "create", "--name", "b", "--family", "solana");
    const file = join(folder, "new-passphrase");
    writeFileSync(file, `${SECOND}\n`);
    const rotate = () =>
      run(["wallets", "rotate-passphrase"], { env: { ...env, TOLLGATE_WALLET_PASSPHRASE_NEW_FILE: file } });
    const rotated = await rotate();
    expect([rotated.code, JSON.parse(rotated.stdout)]).toEqual([0, { wallets: 2 }]);
    expect(rotated.stdout + rotated.stderr).not.toContain(SECOND);
    // The old one is wrong by now.
    expect((await rotate()).code).toBe(2);
    const database = await openDatabase({ file: env.TOLLGATE_DATABASE_FILE ?? "" });
    const custody = await openCustody(SECOND, database);
    const [account] = await database.accounts.list();
    const [wallet] = await database.wallets.list(account?.id ?? "");
    if (!custody || !wallet) throw new Error("the wallet is there");
    expect(wallet.address).toBe(privateKeyToAddress(KEY));
    expect((await custody.signer(wallet).sign(new Uint8Array(32).fill(7))).length).toBe(65);
    await expect(openCustody(PASSPHRASE, database)).rejects.toThrow();
    await database.close();
  });
});
