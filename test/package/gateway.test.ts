// The gateway as it would be published: the command from the tarball in an empty folder, what it says where its packages are
// missing, and the three commands of the README, as they stand there. Needs a build, no network.
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createSandbox } from "tollgate/testing";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { createPackedProject, type PackedProject } from "../support/packed.js";
import { runNode } from "../support/process.js";
import { root } from "../support/sources.js";
import { spawnWords } from "../support/words.js";

/** Of the block in the README: what is installed, how the gateway is started, how its first payment is asked for. */
const README = /## Run your own gateway[\s\S]*?```sh\n(npm install .*)\n(.*npx tollgate gateway)\n(curl [\s\S]*?)```/;
const [, install = "", start = "", ask = ""] = README.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
const PEERS = install.replace("npm install tollgate ", "").split(" ");

let bare: PackedProject;
beforeAll(() => {
  bare = createPackedProject([]);
});
afterAll(() => bare?.remove());

/** The file that `npx tollgate` runs. */
function binOf({ installed }: PackedProject): string {
  const manifest = z.object({ bin: z.object({ tollgate: z.string() }) });
  const { bin } = manifest.parse(JSON.parse(readFileSync(join(installed, "package.json"), "utf8")));
  return join(installed, bin.tollgate);
}

describe("the packed package, in a folder that has nothing else,", () => {
  it("runs `tollgate --help` and `tollgate --version`", async () => {
    expect(readFileSync(binOf(bare), "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
    const help = await runNode([binOf(bare), "--help"]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    for (const name of ["gateway", "accounts create", "keys create", "wallets create", "backup"]) {
      expect(help.stdout).toContain(`  ${name} `);
    }
    expect((await runNode([binOf(bare), "--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("says in one line what the gateway needs, the same packages that the README installs", async () => {
    const [name = "", url = ""] = start.split(" ")[0]?.split("=") ?? [];
    const { code, stdout, stderr } = await runNode([binOf(bare), "gateway"], { [name]: url });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    const line = /^ {2}npm install (.+)$/m.exec(stderr)?.[1]?.split(" ") ?? [];
    expect(line.toSorted()).toEqual(PEERS.toSorted());
    expect(stderr.trim().split("\n")).toHaveLength(2);
  });

  it("says what a command on a database needs", async () => {
    const { code, stderr } = await runNode([binOf(bare), "keys", "list"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("\n  npm install kysely libsql\n")]);
    const postgres = await runNode([binOf(bare), "keys", "list", "--database", "postgres://127.0.0.1:9/none"]);
    expect([postgres.code, postgres.stderr]).toEqual([2, expect.stringContaining("\n  npm install kysely pg\n")]);
  });

  it("gives createGateway a PaywallConfigError with the same packages", async () => {
    const script = `
      import { createGateway, PaywallConfigError } from "tollgate/gateway";
      await createGateway({}, { env: {} }).catch((error) => console.log(error instanceof PaywallConfigError, error.message));
    `;
    const { stdout } = await runNode([bare.write("gateway.js", script)]);
    expect(stdout).toMatch(/^true /);
    for (const peer of PEERS.filter((name) => name !== "libsql" && name !== "viem")) expect(stdout).toContain(peer);
  });
});

describe("the three commands of the README", { timeout: 120_000 }, () => {
  it("start a gateway that prints its first key once and where it listens, and build the first payment", async () => {
    const sandbox = await createSandbox();
    onTestFinished(() => sandbox.close());
    const project = createPackedProject(PEERS);
    onTestFinished(project.remove);
    const [setting = "", ...command] = start.split(" ");
    expect(command).toEqual(["npx", "tollgate", "gateway"]);
    const [name = ""] = setting.split("=");
    const gateway = spawnWords([binOf(project), "gateway"], {
      cwd: project.folder,
      env: { [name]: sandbox.rpcUrl, TOLLGATE_PORT: "0" },
    });
    onTestFinished(gateway.stop);
    const listens = / {2}API {8}http:\/\/127\.0\.0\.1:(\d+)\/docs/;
    await gateway.says(listens);
    const [, port = ""] = listens.exec(gateway.printed()) ?? [];
    const [key = ""] = /tg_test_\w{32,}/.exec(gateway.printed()) ?? [];
    expect(gateway.printed().split(key)).toHaveLength(2);
    expect(gateway.printed()).toContain("TOLLGATE_SETTLER_KEY_EVM");
    expect(existsSync(join(project.folder, "tollgate.db"))).toBe(true);

    const wallet = privateKeyToAddress(generatePrivateKey());
    await sandbox.native.setBalances([wallet], 10n ** 18n);
    const line = ask
      .replace("127.0.0.1:4020", `127.0.0.1:${port}`)
      .replace("tg_test_…", key)
      .replace('"0x…"', `"${wallet}"`)
      .replace('"0x…"', `"${sandbox.payTo}"`);
    const printed = await new Promise<string>((resolve, reject) => {
      execFile("sh", ["-c", line.replace("curl", "curl -sS")], (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      );
    });
    expect(JSON.parse(printed)).toMatchObject({ success: true, status: "created", sender: wallet, amount: 0.001 });
  });
});
