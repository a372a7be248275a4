// How the command line is called: help made of the commands themselves, and a sentence and exit code 2 for whatever is wrong.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/commands.js";
import { GATEWAY_NAMES } from "../../src/environment.js";
import { root } from "../support/sources.js";
import { run } from "./cli.js";

describe("help", () => {
  it.each([[[]], [["--help"]], [["-h"]], [["help"]]])("%j lists every command and the exit codes", async (argv) => {
    const { code, stdout, stderr } = await run(argv);
    expect([code, stderr]).toEqual([0, ""]);
    for (const { name, summary } of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${name} +${summary}`, "m"));
    expect(stdout).toMatch(/Exit codes:\n {2}0 {2}done\n {2}1 {2}it failed\n {2}2 /);
  });

  it.each(COMMANDS.map((command) => [command.name, command] as const))(
    "%s --help names each of its options",
    async (name, command) => {
      const words = name.split(" ");
      const { code, stdout } = await run([...words, "--help"]);
      expect(code).toBe(0);
      for (const [option, { description, env }] of Object.entries(command.options)) {
        expect(stdout).toContain(`--${option}`);
        expect(stdout).toContain(description);
        if (env !== undefined) expect(stdout).toContain(env);
      }
      expect((await run(["help", ...words])).stdout).toBe(stdout);
      for (const line of stdout.split("\n")) expect(line.length).toBeLessThan(170);
    },
  );

  it("of a group lists its commands", async () => {
    const { code, stdout } = await run(["keys"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/keys create.*keys list.*keys revoke/s);
    expect(stdout).not.toContain("wallets");
  });

  it("of the gateway names every setting of the environment that a gateway reads", async () => {
    const { stdout } = await run(["gateway", "--help"]);
    for (const name of GATEWAY_NAMES.filter((one) => !one.includes("PASSPHRASE_NEW"))) expect(stdout).toContain(name);
    for (const name of ["DATABASE_URL", "REDIS_URL", "TOLLGATE_RPC_URL_", "TOLLGATE_SETTLER_KEY_EVM"]) {
      expect(stdout).toContain(name);
    }
  });

  it("has no option for a secret", () => {
    const options = COMMANDS.flatMap(({ options }) => Object.keys(options));
    expect(options.filter((name) => /key|secret|passphrase|token/.test(name))).toEqual([]);
  });
});

it("--version is the package's", async () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  expect(await run(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
});

describe("what is wrong", () => {
  const KEY = `0x${"a1".repeat(32)}`;

  it.each([
    [["keyss"], /no command "keyss": did you mean "keys"\?/],
    [["keys", "crate"], /no command "keys crate": did you mean "create"\?/],
    [["nonsense"], /known: pay, explain, doctor, gateway, accounts, keys, wallets, backup/],
    [["keys", "create", "--nmae", "x"], /no option "--nmae" of keys create: did you mean "--name"\?/],
    [["keys", "create", "--name"], /--name needs a value: --name NAME/],
    [["keys", "create", "--name", "--live"], /--name needs a value/],
    [["keys", "create", "--live=yes"], /--live takes no value/],
    [["keys", "create", "--name", "a", "--name", "b"], /--name is given twice/],
    [["keys", "create"], /The key needs a name/],
    [["keys", "create", "--name", "x", "--live", "--test"], /--test and --live/],
    [["keys", "create", "--name", "x", "--scopes", "read,sned"], /no scope "sned": did you mean "send"\?/],
    [["keys", "create", "--name", "x", "--rate-limit", "1e3"], /--rate-limit takes a whole number/],
    [["keys", "revoke"], /keys revoke needs KEY/],
    [["backup"], /backup needs FILE/],
    [["backup", "a", "b"], /backup takes FILE/],
    [["wallets", "create", "--name", "x"], /--family evm or --family solana/],
    [["wallets", "create", "--name", "x", "--family", "evm", "--limit", "5 USDC"], /--limit takes .*for example/],
    [["wallets", "limit", "wal_x"], /Give --limit/],
    [["accounts", "create", "--name", "a\u001b[2Jb"], /printable/],
    [["__proto__"], /There is no command/],
    [["keys", "create", "--constructor"], /There is no option/],
  ])("%j: one sentence on standard error, and exit code 2", async (argv, sentence) => {
    const { code, stdout, stderr } = await run(argv);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(sentence);
    expect(stderr.trimEnd()).not.toContain("\n");
  });

  it("a word that may be a secret in the wrong place is not repeated either", async () => {
    for (const secret of [`tg_live_${"Z".repeat(44)}`, "orbit velvet mango tractor", "hunter2!"]) {
      for (const argv of [[secret], ["keys", secret], ["accounts", "create", `--${secret}`]]) {
        const { code, stderr } = await run(argv);
        expect(code).toBe(2);
        expect(stderr).not.toContain(secret);
      }
    }
  });

  it.each([
    [["wallets", "import", KEY]],
    [["wallets", "import", "--name", "x", "--family", "evm", KEY]],
    [[KEY]],
    [["keys", KEY]],
    [["wallets", "import", `--secret=${KEY}`]],
  ])("%# a private key in the arguments is refused and not repeated", async (argv) => {
    const { code, stdout, stderr } = await run(argv);
    expect(code).toBe(2);
    expect(stdout + stderr).not.toContain("a1a1a1");
  });

  it("a configuration comes with every problem, each under the name that was written", async () => {
    const env = { TOLLGATE_RPC_URL_BASE: "https://rpc.example", TOLLGATE_ADMIN_TOKEN: "hunter2", TOLLGATE_PORT: "1" };
    const { code, stderr } = await run(["gateway", "--port", "http", "--trust-proxy=-1"], { env });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^3 things must be set right first:\n/);
    expect(stderr).toMatch(/ {2}--port\n {4}expected a port/);
    expect(stderr).toMatch(/ {2}--trust-proxy\n/);
    expect(stderr).toMatch(/ {2}TOLLGATE_ADMIN_TOKEN\n/);
    expect(stderr).not.toContain("hunter2");
  });

  it("a gateway without networks is told what is missing and what to set", async () => {
    const { code, stderr } = await run(["gateway"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/TOLLGATE_RPC_URL_BASE_SEPOLIA=https.*TOLLGATE_SETTLER_KEY_EVM/s);
  });
});
