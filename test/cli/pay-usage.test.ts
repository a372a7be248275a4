// How `tollgate pay` is called, and what it is told wrongly: one sentence, exit code 2, nothing asked; a key is never repeated.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generatePrivateKey } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { DEFAULT_MAX, readLimits } from "../../src/cli/pay/limits.js";
import { EXIT_CODES } from "../../src/cli/pay/outcome.js";
import { stateFolder } from "../../src/cli/pay/state.js";
import { useSellers } from "../client/scripted-seller.js";
import { root } from "../support/sources.js";
import { ownFolder, run } from "./cli.js";

const URL = "http://127.0.0.1:9/never-asked";
const newSeller = useSellers();
const env = (more: Record<string, string> = {}) => ({ XDG_STATE_HOME: ownFolder().folder, ...more });

describe("the command line", () => {
  const KEY = { TOLLGATE_WALLET_KEY: generatePrivateKey() };
  it.each([
    [["pay"], /pay needs URL/],
    [["pay", "api.example/x"], /URL must be a whole one/],
    [["pay", URL, "--json", "-o", "x"], /--json and --output: keep one/],
    [["pay", URL, "--max", "bash.10"], /the shell has put its own name in place of \$0: write --max 0\.10/],
    [["pay", URL, "--max", "/bin/zsh.10"], /the shell has put its own name/],
    [["pay", URL, "--max", "-bash.10"], /--max needs a value: --max 0\.10/],
    [["pay", URL, "--max", "ten"], /--max\n.*is no amount of money/s],
    [["pay", URL, "--max", "1 USDC"], /write "\$1"/],
    [["pay", URL, "--max", "0.10", "--per-day", "0.05"], /\$0\.10 is above/],
    [["pay", URL, "--network", "base-sepolai"], /--network.*did you mean "base-sepolia"/s],
    [["pay", URL, "-H", "PAYMENT-SIGNATURE: x"], /tollgate sets this header itself/],
    [["pay", URL, "--wallet", "0x12"], /set TOLLGATE_GATEWAY_URL and TOLLGATE_API_KEY/],
  ])("%j", async (argv, sentence) => {
    const { code, stdout, stderr } = await run(argv, { env: env(KEY) });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(sentence);
  });

  it("--help names every exit code, and docs/cli.md the same", async () => {
    const { stdout } = await run(["pay", "--help"]);
    const page = readFileSync(join(root, "docs/cli.md"), "utf8");
    for (const [code, meaning] of EXIT_CODES) {
      expect(stdout).toContain(`${code}  ${meaning}`);
      expect(page).toContain(`| ${code} | ${meaning} |`);
    }
  });
});

describe("the wallet", () => {
  const pay = async (more: Record<string, string>, ...argv: string[]) => run(["pay", URL, ...argv], { env: env(more) });

  it.each([
    ["none", {}, /There is no wallet: set TOLLGATE_WALLET_KEY/],
    [
      "a short one",
      { TOLLGATE_WALLET_KEY: `0x${"a1".repeat(31)}` },
      /TOLLGATE_WALLET_KEY: expected a private key.*got 0x and 62 hex digits \(not shown\)/,
    ],
    ["zero", { TOLLGATE_WALLET_KEY: `0x${"00".repeat(32)}` }, /it is no private key: its number is 0 or too large/],
    [
      "hex that may be of either family",
      { TOLLGATE_WALLET_KEY: "a1".repeat(32) },
      /may be a key of either family: put 0x in front/,
    ],
    [
      "a public key",
      { TOLLGATE_WALLET_KEY: "7YttLkHDoNj9wyDur5pM1ejNaAvT9X4eqaYcHQqtj2G5" },
      /what may be a public key.*one of EVM begins with 0x/,
    ],
    [
      "a file of Solana's own tools",
      { TOLLGATE_WALLET_KEY: `[${Array(64).fill(161).join(",")}]` },
      /a list of bytes, as key files hold/,
    ],
    [
      "a gateway without the name of a wallet",
      { TOLLGATE_GATEWAY_URL: "https://pay.example", TOLLGATE_API_KEY: "tg_test_x" },
      /name the one that pays with --wallet ADDRESS/,
    ],
    [
      "a node that is none",
      { TOLLGATE_WALLET_KEY: generatePrivateKey(), TOLLGATE_RPC_URL: "wss://user:hunter2@x" },
      /TOLLGATE_RPC_URL\n.*a WebSocket URL/s,
    ],
    [
      "a network that is none",
      { TOLLGATE_WALLET_KEY: generatePrivateKey(), TOLLGATE_RPC_URL_BASE_SEPOLAI: "https://x.example" },
      /did you mean TOLLGATE_RPC_URL_BASE_SEPOLIA/,
    ],
  ])("%s", async (_name, more, sentence) => {
    const { code, stdout, stderr } = await pay(more as Record<string, string>);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(sentence);
    for (const secret of ["a1a1a1", "161,161", "hunter2", ...Object.values(more).filter((one) => one.length > 60)]) {
      expect(stderr).not.toContain(secret);
    }
  });

  it("comes from a file, too", async () => {
    const seller = await newSeller(() => ({ status: 200, body: "free" }));
    const { folder } = ownFolder();
    const file = join(folder, "key");
    writeFileSync(file, `${generatePrivateKey()}\n`, { mode: 0o600 });
    const ran = await run(["pay", seller.url], { env: env({ TOLLGATE_WALLET_KEY_FILE: file }) });
    expect(ran).toEqual({ code: 0, stdout: "free", stderr: "" });
  });
});

it("dollars are meant where no money is named; a day has five, or as much as a request may cost", () => {
  expect(readLimits(undefined, undefined)).toEqual({ perRequest: [DEFAULT_MAX], perDay: ["$5"] });
  expect(readLimits(["0.5"], undefined)).toEqual({ perRequest: ["$0.5"], perDay: ["$5"] });
  expect(readLimits(["20", "0.001 SOL"], undefined)).toEqual({
    perRequest: ["$20", "0.001 SOL"],
    perDay: ["$20", "0.01 SOL"],
  });
  expect(readLimits(["$1", "0.001 SOL"], ["2", "1 SOL"])).toEqual({
    perRequest: ["$1", "0.001 SOL"],
    perDay: ["$2", "1 SOL"],
  });
});

it("remembers in XDG_STATE_HOME where that is a whole path, else below the home folder", () => {
  expect(stateFolder({ XDG_STATE_HOME: "/var/state", HOME: "/home/x" })).toBe("/var/state/tollgate");
  expect(stateFolder({ XDG_STATE_HOME: "state", HOME: "/home/x" })).toBe("/home/x/.local/state/tollgate");
  expect(stateFolder({ HOME: "/home/x" })).toBe("/home/x/.local/state/tollgate");
});
