import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { runNode } from "../support/process.js";

const script = "scripts/build-token.mjs";
const artifact = new URL("../../src/testing/token.artifact.ts", import.meta.url);

it("the committed artifact is what the committed Solidity compiles to", async () => {
  expect(await runNode([script, "--check"])).toEqual({ code: 0, stdout: "", stderr: "" });
});

it("the artifact stays small and names no place of the machine that built it", async () => {
  const text = await readFile(artifact, "utf8");
  expect(text.length).toBeLessThan(70_000);
  expect(text).not.toMatch(/file:|node_modules|\/home\/|\/tmp\//);
});
