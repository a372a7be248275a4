// Forms that a wallet signs: a button for every wallet of this browser, which asks the gateway for the text, the wallet for its
// signature, and sends the form.
import { encodeBase58 } from "../../../chains/solana/base58.js";
import { ask, type EvmWallet, findEvmWallets } from "../../../html/script/provider.js";
import { done, type Result, stop } from "../../../html/script/result.js";
import { asked, findSolanaWallets, type SolanaWallet } from "../../../html/script/solana.js";

type Wallet = EvmWallet | SolanaWallet;
type Account = SolanaWallet["wallet"]["accounts"][number];

/** Of the wallet standard, as far as it is used here. */
interface Features {
  readonly "standard:connect"?: { connect(): Promise<{ readonly accounts: readonly Account[] }> };
  readonly "solana:signMessage"?: {
    signMessage(...inputs: readonly object[]): Promise<readonly { readonly signature: Uint8Array }[]>;
  };
}

interface Connected {
  readonly address: string;
  sign(text: string): Promise<Result<string>>;
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const hexOf = (bytes: Uint8Array): string =>
  `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
const NO_ACCOUNT = stop("Your wallet shows no account. Unlock it and try again.");

async function connectEvm({ provider }: EvmWallet): Promise<Result<Connected>> {
  const accounts = await ask(provider, "eth_requestAccounts", [], "to connect");
  if (!accounts.ok) return accounts;
  const [address] = accounts.value as readonly unknown[];
  if (typeof address !== "string") return NO_ACCOUNT;
  return done({
    address,
    async sign(text) {
      const signed = await ask(provider, "personal_sign", [hexOf(bytesOf(text)), address], "to sign");
      return signed.ok ? done(String(signed.value)) : signed;
    },
  });
}

async function connectSolana({ wallet }: SolanaWallet): Promise<Result<Connected>> {
  const { "standard:connect": connecting, "solana:signMessage": signing } = wallet.features as Features;
  const accounts = await asked(async () => (await connecting?.connect())?.accounts ?? wallet.accounts, "to connect");
  if (!accounts.ok) return accounts;
  const [account] = accounts.value;
  if (!account) return NO_ACCOUNT;
  return done({
    address: account.address,
    async sign(text) {
      const signed = await asked(
        async () => (await signing?.signMessage({ account, message: bytesOf(text) }))?.[0]?.signature,
        "to sign",
      );
      if (!signed.ok) return signed;
      return signed.value ? done(encodeBase58(signed.value)) : stop("This wallet signs no messages.");
    },
  });
}

const connect = (wallet: Wallet): Promise<Result<Connected>> =>
  wallet.family === "evm" ? connectEvm(wallet) : connectSolana(wallet);

function fill(form: HTMLFormElement, values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) {
    const field = form.elements.namedItem(name);
    if (field instanceof HTMLInputElement) field.value = value;
  }
}

/** What the gateway wants signed for this form. */
async function challenge(form: HTMLFormElement): Promise<Result<{ readonly text: string; readonly nonce: string }>> {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string") body.append(name, value);
  try {
    const answer = await fetch(form.dataset.challenge ?? "", { method: "POST", body, credentials: "same-origin" });
    if (answer.redirected) return stop("You are signed out: sign in again.");
    const { text, nonce, problem } = await answer.json();
    return answer.ok ? done({ text, nonce }) : stop(problem ?? "The gateway refused.");
  } catch {
    return stop("The gateway does not answer. Try again.");
  }
}

async function signWith(wallet: Wallet, form: HTMLFormElement): Promise<Result<true>> {
  const connected = await connect(wallet);
  if (!connected.ok) return connected;
  fill(form, { address: connected.value.address });
  const given = await challenge(form);
  if (!given.ok) return given;
  const signature = await connected.value.sign(given.value.text);
  if (!signature.ok) return signature;
  fill(form, { nonce: given.value.nonce, signature: signature.value });
  form.submit();
  return done(true);
}

function offer(form: HTMLFormElement, wallet: Wallet): void {
  const said = form.querySelector("[data-said]");
  const say = (words: string) => said?.replaceChildren(words);
  const button = document.createElement("button");
  button.type = "button";
  button.append(`${form.dataset.verb} ${wallet.name}`);
  button.addEventListener("click", () => {
    const all = form.querySelectorAll("button");
    for (const one of all) one.disabled = true;
    say("Your wallet asks you now.");
    const again = (words: string) => {
      say(words);
      for (const one of all) one.disabled = false;
    };
    signWith(wallet, form).then(
      (signed) => (signed.ok ? undefined : again(signed.words)),
      () => again("That did not work. Try again."),
    );
  });
  form.querySelector("[data-wallets]")?.append(button);
  say("");
}

/** Makes every form of the page that a wallet signs ready. */
export function signForms(): void {
  const forms = [...document.querySelectorAll<HTMLFormElement>("form[data-challenge]")];
  if (forms.length === 0) return;
  for (const form of forms) form.querySelector("[data-said]")?.replaceChildren("No wallet was found in this browser.");
  const found = (wallet: Wallet) => {
    for (const form of forms) offer(form, wallet);
  };
  findEvmWallets(found);
  findSolanaWallets(found);
}
