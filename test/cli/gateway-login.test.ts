// The command that signs people in to the dashboard: its link works at the gateway of the same settings, for the
// account it names; and what a terminal is told of it at the start.
import { describe, expect, it, onTestFinished } from "vitest";
import { formatLogin } from "../../src/cli/banner.js";
import { useLink } from "../../src/gateway/dashboard/link.js";
import { openDatabase } from "../../src/gateway/database/open.js";
import { openGateway } from "../../src/gateway/gateway.js";
import { readGatewayOptions } from "../../src/gateway/options.js";
import { ownFolder, run } from "./cli.js";

describe("tollgate gateway login", () => {
  it("prints a link for the named account and the public URL, which signs in once", async () => {
    const { database } = ownFolder();
    const env = { TOLLGATE_DATABASE_FILE: database, TOLLGATE_PUBLIC_URL: "https://pay.example" };
    const ids: string[] = [];
    for (const name of ["one", "two"]) {
      const made = await run(["accounts", "create", "--name", name], { env });
      ids.push((JSON.parse(made.stdout) as { id: string }).id);
    }
    expect((await run(["gateway", "login"], { env })).code).toBe(2);
    const { stdout } = await run(["gateway", "login", "--account", "two"], { env });
    const { link, account } = JSON.parse(stdout) as { link: string; account: string };
    expect([account, link.split("#")[0]]).toEqual([ids[1], "https://pay.example/dashboard/login"]);
    const opened = await openDatabase({ file: database });
    const token = link.split("#")[1] ?? "";
    expect(await useLink(opened, token, "https://pay.example")).toBe(ids[1]);
    expect(await useLink(opened, token, "https://pay.example")).toBeUndefined();
    await opened.close();
  });

  it("makes none where the dashboard is switched off", async () => {
    const { database } = ownFolder();
    const env = { TOLLGATE_DATABASE_FILE: database, TOLLGATE_DASHBOARD: "off" };
    await run(["accounts", "create", "--name", "one"], { env });
    const { code, stderr, stdout } = await run(["gateway", "login"], { env });
    expect([code === 0, stdout, stderr.includes("TOLLGATE_DASHBOARD")]).toEqual([false, "", true]);
  });

  it("is what a terminal is told at the gateway's start: the link of the one account, else the command", async () => {
    const settings = readGatewayOptions({ database: { file: ownFolder().database }, networks: NETWORKS }, {});
    const gateway = await openGateway(settings);
    onTestFinished(() => gateway.close());
    const [line = ""] = await formatLogin(gateway, "http://127.0.0.1:5555");
    const [, token = ""] = /Dashboard {2}http:\/\/127\.0\.0\.1:5555\/dashboard\/login#(\S+)$/.exec(line) ?? [];
    expect(await useLink(gateway.database, token, "http://127.0.0.1:4020")).toBe(gateway.firstKey?.key.account);
    await gateway.database.accounts.create("two");
    const [command] = await formatLogin(gateway, "http://127.0.0.1:5555");
    expect(command).toBe("  Dashboard  tollgate gateway login --account ACCOUNT");
    expect(await formatLogin({ ...gateway, settings: { ...settings, dashboard: false } }, "http://x")).toEqual([]);
  });
});

/** A node that nobody is. */
const NETWORKS = { "base-sepolia": { rpcUrl: "http://127.0.0.1:9" } };
