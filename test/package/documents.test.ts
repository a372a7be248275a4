// The documents that are made from the code are current, and the links of the written ones lead somewhere.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ERRORS } from "../../src/errors.js";
import { headingsOf, linksOf } from "../support/documents.js";
import { runNode } from "../support/process.js";
import { root } from "../support/sources.js";

const documents = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)];

describe("the documents", () => {
  it("list every error code as the table in the code has it", async () => {
    const check = await runNode([join(root, "scripts/build-docs.mjs"), "--check"]);
    expect(check).toMatchObject({ code: 0, stderr: "" });
    const text = readFileSync(join(root, "docs/errors.md"), "utf8");
    expect(Object.keys(ERRORS).filter((code) => !text.includes(`\`${code}\``))).toEqual([]);
  });

  it("link to files that exist", () => {
    const links = linksOf(root, documents);
    const broken = links.filter(({ to }) => !existsSync(join(root, to)));
    expect(broken).toEqual([]);
  });

  it("link to headings that exist", () => {
    const links = linksOf(root, documents).filter(({ heading }) => heading !== undefined);
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter(({ to, heading }) => !headingsOf(join(root, to)).includes(heading ?? ""))).toEqual([]);
  });

  it("name only error codes that exist", () => {
    const known = new Set<string>(Object.keys(ERRORS));
    const pattern = /\b[45]\d\d `([a-z_]+)`/g;
    const named = documents.flatMap((document) => [...readFileSync(join(root, document), "utf8").matchAll(pattern)]);
    expect(named.length).toBeGreaterThan(5);
    expect(named.map(([, code]) => code!).filter((code) => !known.has(code))).toEqual([]);
  });
});
