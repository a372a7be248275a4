// What a seller reads when a key of Solana has the wrong form: what is wrong in kind, and never the key itself, wherever he
// has put it.
import { Keypair } from "@solana/web3.js";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { decodeBase58, encodeBase58 } from "../src/chains/solana/base58.js";
import { local } from "../src/receive/local.js";
import {
  both,
  FEE_PAYER,
  good,
  KEY,
  problemsOf,
  RPC_URL,
  refused,
  SELLER,
  SOLANA_KEY,
  SOLANA_SEED,
} from "./support/configurations.js";

const bytes = decodeBase58(SOLANA_KEY)!;
const LIST = JSON.stringify([...bytes]);
/** The seed of one key and the public half of another. */
const mixed = encodeBase58(Uint8Array.of(...new Uint8Array(32).fill(7), ...bytes.slice(32)));

function messageOf(settler: unknown, network = "solana-devnet"): string {
  const problems = problemsOf(() => local({ networks: { [network]: { rpcUrl: RPC_URL, settler: settler as never } } }));
  expect(problems).toHaveLength(1);
  return problems[0]!.message;
}

/** Parts of the key that nobody may read, in any of its spellings. */
const SECRET = new RegExp([SOLANA_KEY.slice(8, 30), "(?:01){20}", "1,1,1,1,1,1", mixed.slice(8, 30)].join("|"));

describe("a settler key of Solana that is none", () => {
  it.each([
    ["that is missing", undefined, "got nothing"],
    ["that is empty", "", "an empty text"],
    ["with a line break", `${SOLANA_KEY}\n`, "white space at an end"],
    ["that was copied from the documents", "4zMM…", "put your own here"],
    ["that is the text of a key file", LIST, "the text of a list of bytes"],
    ["that is the content of a key file", [...bytes], "a list of bytes, as key files hold"],
    ["that is an array of bytes", bytes, "a list of bytes, as key files hold"],
    ["that is a pair of keys", Keypair.fromSeed(bytes.slice(0, 32)), "write its secretKey in base58"],
    ["that is an account of EVM", privateKeyToAccount(KEY), "an object that cannot sign messages for a Solana address"],
    ["that is its address", FEE_PAYER, "what may be a public key (an address), or half of a secret one"],
    ["whose halves do not fit", mixed, "whose two halves do not fit"],
    ["with a sign too few", SOLANA_KEY.slice(4), "base58 of 8"],
    ["with a zero", `0${SOLANA_KEY.slice(1)}`, "signs that base58 does not have"],
    ["with two hex digits too few", SOLANA_SEED.slice(2), "got 62 hex digits"],
    ["in a list, at its second place", [SOLANA_KEY, "k"], "entry 2: expected a Solana secret key"],
  ])("%s is told what is wrong with it, and is not shown", (_name, settler, words) => {
    const message = messageOf(settler);
    expect(message).toContain(words);
    expect(message).toMatch(/expected a Solana secret key \(base58 of 64 bytes, or a 32-byte seed as 64 hex digits\)/);
    expect(message).not.toMatch(SECRET);
  });

  it("is told the same where it comes from the environment", () => {
    const env = { TOLLGATE_SETTLER_KEY_SOLANA: LIST };
    expect(refused(good, env)[0]?.message).toContain("the text of a list of bytes");
  });

  it("is recognised on EVM", () => {
    expect(messageOf(SOLANA_KEY, "base")).toContain("of the form of a Solana secret key");
  });
});

describe("a key in the wrong place", () => {
  it("is told what it may be where an address is expected", () => {
    for (const secret of [SOLANA_KEY, SOLANA_SEED])
      expect(refused({ ...both, payTo: { evm: SELLER, solana: secret } })[0]?.message).toContain(
        "got what may be a private key (not shown)",
      );
  });

  it.each([
    ["in base58", SOLANA_KEY],
    ["as a seed", SOLANA_SEED],
    ["as the text of a key file", LIST],
    ["in the middle of other text", `my key: ${SOLANA_KEY}!`],
    ["without its first signs", SOLANA_KEY.slice(1)],
  ])("%s is never repeated", (_name, secret) => {
    const texts = [
      refused({ ...both, payTo: secret }),
      refused({ ...both, payTo: { evm: SELLER, solana: secret } }),
      refused({ ...both, payTo: { evm: SELLER, [secret]: SELLER } }),
      refused({ ...good, network: secret }),
      refused({ ...good, description: 7, [secret]: 1 }),
      refused({ ...good, routes: { "/a": secret } }),
      refused({ ...good, routes: { [secret]: "$1" } }),
      refused({ ...good, routes: { "/a": { amount: "1", asset: secret } } }),
      refused(good, { TOLLGATE_PRICE: secret }),
      refused(good, { TOLLGATE_PUBLIC_URL: secret }),
      refused(good, { TOLLGATE_SETTLER_KEY_EVM: secret }),
      refused(good, { TOLLGATE_SETTLER_KEY_SOLANA: `${secret}x0` }),
      refused({ network: "solana-devnet", receive: both.receive }, { TOLLGATE_PAY_TO: secret }),
      problemsOf(() => local({ networks: { [secret]: { rpcUrl: RPC_URL, settler: SOLANA_KEY } } })),
    ].map((problems) => {
      expect(problems.length).toBeGreaterThan(0);
      return JSON.stringify(problems);
    });
    for (const text of texts) expect(text).not.toMatch(SECRET);
  });
});
