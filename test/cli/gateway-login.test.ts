// The command that signs people in to the dashboard: its link works at the gateway of the same settings, for the account it names.
import { describe, expect, it } from "vitest";
import { useLink } from "../../src/gateway/dashboard/link.js";
import { openDatabase } from "../../src/gateway/database/open.js";
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
});
