// A thousand spoilt payments from a fixed seed: each is refused for its own reason, and none makes the judge stumble.
// Beside each stands the honest payment it was made from, which must pass, or a refusal would prove nothing.
import { TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import { describe, expect, it } from "vitest";
import { REASONS, type Reason } from "../../../src/chains/solana/reasons.js";
import { verifyStatic } from "../../../src/chains/solana/verify-static.js";
import { dice } from "../../support/dice.js";
import { CAPS, type Draw, ENVELOPE, INSTRUCTIONS, MONEY } from "./mutations.js";
import { CLIENTS, pay, TERMS } from "./payment.js";

const ALL = Object.entries({ ...INSTRUCTIONS, ...CAPS, ...MONEY, ...ENVELOPE });
const ROUNDS = Math.ceil(1_000 / ALL.length);

function draw(seed: number): Draw {
  const below = dice(seed);
  const program = below(2) ? TOKEN_PROGRAM_ID : TOKEN_2022_PROGRAM_ID;
  const clients = Object.values(CLIENTS);
  return {
    below,
    program,
    version: below(2) ? "legacy" : 0,
    instructions: clients[below(clients.length)]!(program),
    key: () => new PublicKey(Uint8Array.from({ length: 32 }, () => below(256))),
  };
}

const seen = new Set<Reason>();

describe("a payment is refused for its own reason after", () => {
  it.each(ALL)("%s", async (name, mutate) => {
    for (let round = 0; round < ROUNDS; round++) {
      const drawn = draw(round * 1_000 + name.length);
      const honest = pay(drawn.instructions, { version: drawn.version });
      expect(await verifyStatic(honest, TERMS), `round ${round}`).toMatchObject({ ok: true, amount: TERMS.amount });
      const { base64, reason, terms } = mutate(drawn);
      const verdict = await verifyStatic(base64, { ...TERMS, ...terms });
      expect(verdict, `round ${round}`).toMatchObject({ ok: false, reason });
      seen.add(reason);
    }
  });

  it("anything at all: every reason that a transaction can give has been given", () => {
    // The remaining reasons are the terms' own (terms.test.ts), and that of a transfer of SOL (native-static.test.ts).
    const ofOthers = [
      "unknown_optional",
      "network_mismatch",
      "missing_fee_payer",
      "invalid_fee_payer",
      "fee_payer_not_ours",
      "verification_failed",
    ];
    expect([...seen].sort()).toEqual(REASONS.filter((reason) => !ofOthers.includes(reason)).sort());
  });
});
