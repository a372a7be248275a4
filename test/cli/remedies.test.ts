// What the command line says where somebody went wrong: the option that was written, what was meant, and the command that helps.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ownFolder, run } from "./cli.js";

const PASSPHRASE = "orbit velvet mango tractor lantern";

/** A database with one account. */
async function withAccount() {
  const { database } = ownFolder();
  const env = { TOLLGATE_DATABASE_FILE: database, TOLLGATE_WALLET_PASSPHRASE: PASSPHRASE };
  await run(["accounts", "create", "--name", "shop"], { env });
  return (...argv: string[]) => run(argv, { env });
}

const wallet = ["wallets", "create", "--name", "agent", "--family", "evm"];

describe("in a folder without a database", () => {
  const COMMANDS = [
    ["accounts", "list"],
    ["keys", "list"],
    ["keys", "create", "--name", "x"],
    ["keys", "revoke", "key_x"],
    ["wallets", "list"],
    wallet,
    ["backup", "copy.db"],
  ];
  it.each(COMMANDS.map((argv) => [argv.join(" "), argv] as const))(
    "%s names the file and makes none",
    async (_, argv) => {
      const { folder } = ownFolder();
      const file = join(folder, "elsewhere.db");
      const { code, stdout, stderr } = await run([...argv, "--database", file]);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toContain(`There is no database at ${file}`);
      expect(stderr).toContain("--database FILE");
      expect(existsSync(file)).toBe(false);
    },
  );
});

describe("a wallet's limit", () => {
  it("on an unknown network is told under its option, with the network that was meant", async () => {
    const tollgate = await withAccount();
    const limit = "basesepolia USDC 5/payment 50/day";
    const { code, stderr } = await tollgate(...wallet, "--limit", limit);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^--limit \(number 1\): there is no network "basesepolia" here; did you mean "base-sepolia"\?/,
    );
  });
});

describe("a key", () => {
  it("for a wallet that is not there is told where wallets are listed", async () => {
    const tollgate = await withAccount();
    const argv = ["keys", "create", "--name", "x", "--scopes", "send", "--wallets", "wal_none"];
    const { code, stderr } = await tollgate(...argv);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^--wallets: this account has no hosted test wallet "wal_none"; tollgate wallets list shows/,
    );
  });

  it("that may send and names no wallet comes with a warning; one that names a wallet comes without", async () => {
    const tollgate = await withAccount();
    const bare = await tollgate("keys", "create", "--name", "x", "--scopes", "send");
    expect([bare.code, bare.stderr]).toEqual([0, expect.stringMatching(/names no hosted wallet.*--wallets ID/)]);
    const { id } = JSON.parse((await tollgate(...wallet)).stdout) as { id: string };
    const full = await tollgate("keys", "create", "--name", "y", "--scopes", "send", "--wallets", id);
    expect([full.code, full.stderr]).toEqual([0, expect.not.stringContaining("names no hosted wallet")]);
  });

  it("and a wallet are not found by their names, and it is said by what they are", async () => {
    const tollgate = await withAccount();
    await tollgate("keys", "create", "--name", "agent");
    expect((await tollgate("keys", "revoke", "agent")).stderr).toMatch(/not by its name: tollgate keys list/);
    await tollgate(...wallet);
    expect((await tollgate("wallets", "limit", "agent", "--none")).stderr).toMatch(
      /not by its name: tollgate wallets list/,
    );
  });
});

describe("a passphrase", () => {
  it("that is another one is not to be replaced by a new one", async () => {
    const { database } = ownFolder();
    const open = (passphrase: string, ...argv: string[]) =>
      run(argv, { env: { TOLLGATE_DATABASE_FILE: database, TOLLGATE_WALLET_PASSPHRASE: passphrase } });
    await open(PASSPHRASE, "accounts", "create", "--name", "shop");
    await open(PASSPHRASE, ...wallet);
    const { code, stderr } = await open("copper willow engine harbour", ...wallet);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/got another one: set that one; `tollgate wallets rotate-passphrase` changes it/);
    expect(stderr).not.toMatch(/random words|copper/);
  });

  it("in a file that is not there is told with the whole path", async () => {
    const { folder, database } = ownFolder();
    await run(["accounts", "create", "--name", "shop"], { env: { TOLLGATE_DATABASE_FILE: database } });
    const file = join(folder, "nothing", "..", "phrase");
    const env = { TOLLGATE_DATABASE_FILE: database, TOLLGATE_WALLET_PASSPHRASE_FILE: file };
    const { stderr } = await run(wallet, { env });
    expect(stderr).toContain(`the file ${join(folder, "phrase")} cannot be read (ENOENT)`);
    expect(stderr).toContain("or set TOLLGATE_WALLET_PASSPHRASE itself");
  });
});
