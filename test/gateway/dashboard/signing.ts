// A wallet and a browser together: asks for the text, signs it, and sends the form, as the script of the page does.
import type { Wallet } from "../signing-wallets.js";
import type { Page, Visitor } from "./visitor.js";

type Fields = Record<string, string | readonly string[]>;

export interface Challenge {
  readonly status: number;
  readonly text: string;
  readonly nonce: string;
  readonly problem: string | undefined;
}

export async function challengeOf(
  visitor: Visitor,
  path: string,
  address: string,
  fields: Fields = {},
): Promise<Challenge> {
  const { status, text } = await visitor.post(path, { ...fields, address });
  return { status, ...JSON.parse(text) };
}

/** Signs in by a wallet. `as`: it signs with another key than that of the address it names. */
export async function signInWith(visitor: Visitor, wallet: Wallet, as: Wallet = wallet): Promise<Page> {
  const { text, nonce } = await challengeOf(visitor, "/login/challenge", wallet.address);
  return visitor.post("/login/wallet", { address: wallet.address, nonce, signature: await as.sign(text) });
}

/** A change that the wallet signs; the answer to the form, or to the question what is to be signed where that was refused. */
export async function change(visitor: Visitor, wallet: Wallet, fields: Fields): Promise<Page> {
  const { form } = await visitor.get("/account");
  const asked = await visitor.post("/changes/challenge", { form, ...fields, address: wallet.address });
  if (asked.status !== 200) return asked;
  const { text, nonce } = JSON.parse(asked.text) as Challenge;
  return visitor.post("/changes", {
    form,
    ...fields,
    address: wallet.address,
    nonce,
    signature: await wallet.sign(text),
  });
}

export const addSigner = (visitor: Visitor, wallet: Wallet): Promise<Page> =>
  change(visitor, wallet, { change: "signer" });
