// What a seller reads when a value has the wrong form: what is wrong in kind, what is expected, and never the value itself.
import { describe, expect, it } from "vitest";
import { PaywallConfigError } from "../src/errors.js";
import { facilitator } from "../src/receive/facilitator.js";
import { local } from "../src/receive/local.js";
import { good, KEY, problemsOf, refused, SELLER } from "./support/configurations.js";

const DIGITS = "5ec2e7".repeat(11).slice(0, 64);
const rpcUrl = "http://127.0.0.1:8545";

/** The one message about `local()` with this network entry, as a JavaScript caller could write it. */
function messageOf(entry: object): string {
  const problems = problemsOf(() => local({ networks: { base: entry as never } }));
  expect(problems).toHaveLength(1);
  return problems[0]!.message;
}

describe("a settler key that is none", () => {
  it.each([
    ["without its 0x", DIGITS, "without the 0x in front"],
    ["with two digits too few", `0x${DIGITS.slice(2)}`, "got 0x and 62 hex digits"],
    ["with two digits too many", `0x${DIGITS}00`, "got 0x and 66 hex digits"],
    ["with other signs", `0x${DIGITS.slice(2)}zz`, "other signs than hex digits"],
    ["with a line break", `0x${DIGITS}\n`, "white space at an end"],
    ["that is empty", "", "an empty text"],
    ["that is a password", `hunter2${DIGITS.slice(40)}`, "does not begin with 0x"],
    ["that was copied from the documents", "0x…", "put your own here"],
    ["that is missing", undefined, "got nothing"],
    ["that is a number", 5, "got a number"],
    ["that is an account without a key", { address: SELLER }, "an object that cannot sign transactions"],
    ["in a list, at its second place", [KEY, DIGITS], "entry 2: expected a private key"],
  ])("%s is told what is wrong with it, and is not shown", (_name, settler, words) => {
    const message = messageOf({ rpcUrl, settler });
    expect(message).toContain(words);
    expect(message).toMatch(/expected a private key \(0x and 64 hex digits, for example /);
    expect(message).not.toMatch(/5ec2e7|hunter2/);
  });

  it("is told the same where it comes from the environment", () => {
    const env = { TOLLGATE_SETTLER_KEY_EVM: DIGITS, TOLLGATE_RPC_URL_BASE_SEPOLIA: rpcUrl };
    expect(refused(good, env)[0]?.message).toContain("without the 0x in front");
    expect(refused(good, env)[0]?.message).not.toContain(DIGITS);
  });
});

const WRONG_URLS: readonly (readonly [name: string, url: unknown, words: string])[] = [
  ["without a scheme", "rpc.example/hunter2", "without http:// or https:// in front"],
  ["of a WebSocket", "wss://rpc.example/hunter2", "a WebSocket URL"],
  ["of another scheme", "ftp://rpc.example/hunter2", "neither http nor https"],
  ["with a blank", "https:// rpc.example/hunter2", "white space"],
  ["that cannot be read", "https://[hunter2", "cannot be read as a URL"],
  ["that is empty", "", "an empty text"],
  ["that is missing", undefined, "got nothing"],
  ["that is an object", new URL("https://rpc.example/hunter2"), "got an object"],
];

describe("a URL that is none", () => {
  it.each(WRONG_URLS)("%s is told what is wrong with it, and is not shown", (_name, url, words) => {
    const own = messageOf({ rpcUrl: url, settler: KEY });
    const [theirs] = problemsOf(() => facilitator({ url: url as string }));
    for (const message of [own, theirs?.message]) {
      expect(message).toContain(words);
      expect(message).toMatch(/expected the http\(s\) URL of .*, for example "https:/);
      expect(message).not.toContain("hunter2");
    }
  });

  it.each([
    ["credentials", "https://me:hunter2@f.example"],
    ["a query", "https://f.example?key=hunter2"],
    ["a fragment", "https://f.example#hunter2"],
  ])("for a facilitator is told that it has %s", (what, url) => {
    const problems = problemsOf(() => facilitator({ url }));
    expect(problems).toMatchObject([{ path: "facilitator.url", message: expect.stringContaining(`with ${what}`) }]);
    expect(problems[0]?.message).not.toContain("hunter2");
  });

  it("for a node in a list is told which of them it is", () => {
    expect(messageOf({ rpcUrl: [rpcUrl, "rpc.example"], settler: KEY })).toMatch(/^entry 2: .*without http:/);
    expect(messageOf({ rpcUrl: [], settler: KEY })).toBe("expected at least one RPC URL, got an empty list");
  });
});

describe("other slips", () => {
  it.each(["0x…", "0x...", "0x", "0xYourAddress", "<your address>"])(
    "the address %s of the documents is asked to be replaced by one's own",
    (payTo) => expect(refused({ ...good, payTo })[0]?.message).toContain("put your own receiving address here"),
  );

  it("a misspelt method of a table key is told the nearest one, a foreign one what to do", () => {
    const of = (key: string) => refused({ ...good, routes: { [key]: "$1" } })[0]?.message;
    expect(of("GETT /a")).toContain("did you mean GET?");
    expect(of("get /a")).toContain("write it as GET");
    expect(of("PROPFIND /a")).toMatch(/: leave the method out/);
  });

  it("an RPC URL for a network that no route asks for is named beside the one that is missing", () => {
    const env = { TOLLGATE_RPC_URL_BASE: rpcUrl, TOLLGATE_SETTLER_KEY_EVM: KEY };
    const problems = refused(good, env);
    expect(problems.map(({ path }) => path)).toEqual(["TOLLGATE_RPC_URL_BASE_SEPOLIA"]);
    expect(problems[0]?.message).toContain("TOLLGATE_RPC_URL_BASE is set, but no route asks for it");
    const both = { payTo: SELLER, networks: ["base-sepolia", "base"] };
    expect(refused(both, env)[0]?.message).not.toContain("is set");
  });

  it("an option of a network that does not exist is told which ones do", () => {
    expect(messageOf({ rpcUrl, settler: KEY, polling: 5 })).toMatch(/^no such option: it has id, rpcUrl, settler, /);
  });

  it("the first line of the error fits the start and a check that fails later", () => {
    const { message } = new PaywallConfigError([{ path: "payTo", code: "required", message: "who is paid?" }]);
    expect(message).toBe("The paywall's configuration has problems:\n  payTo: who is paid? [required]");
  });
});
