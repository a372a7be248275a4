// The payment page: connect, sign, settle, and the content comes by a navigation. Whatever happens, one price is paid once: a
// payment that was signed is kept and sent again until its outcome is known, and nothing is signed beside it.
import type { PageData, PageOffer, PageProblem } from "../page-data.js";
import { type Asked, payByEvm } from "./evm.js";
import { alone, forget, load, newId, type Pending, save, sweep, toProof } from "./pending.js";
import { showPhone } from "./phone.js";
import { type EvmWallet, findEvmWallets } from "./provider.js";
import { done, type Result, stop } from "./result.js";
import { checkCookies, fits, send } from "./send.js";
import { askShop } from "./shop.js";
import { findSolanaWallets, payBySolana, type SolanaWallet } from "./solana.js";
import { findTransfer, showTransfer } from "./transfer.js";
import * as view from "./view.js";
import { wordsOf } from "./words.js";

type Wallet = EvmWallet | SolanaWallet;
type Signed = Pending & { readonly proof: string };

/** So often it is sent by itself; after that the person decides. */
const MOST_TRIES = 6;
const LONGEST_WAIT_S = 20;

let data = JSON.parse(document.getElementById("tollgate-data")?.textContent ?? "") as PageData;
const wallets: Wallet[] = [];
let chosen = 0;
let hasChosen = false;
/** A payment is being made or collected: nothing else may begin. */
let busy = false;
/** No payment is offered here, whatever wallets come. */
let closed = false;

const familyOf = ({ given }: PageOffer) => (given.network.startsWith("solana:") ? "solana" : "evm");
const step: Asked["step"] = (at, words) => {
  view.showStep(at);
  view.say({ text: words });
};

function render(): void {
  const { offers } = data;
  if (!hasChosen)
    chosen = Math.max(
      0,
      offers.findIndex((one) => wallets.some(({ family }) => family === familyOf(one))),
    );
  const offer = offers[chosen];
  if (!offer) return;
  view.showPrice(offer);
  view.showOffers(data, chosen, (at) => {
    [chosen, hasChosen] = [at, true];
    render();
  });
  if (busy || closed) return;
  const able = wallets.filter(({ family }) => family === familyOf(offer));
  view.offerActions(
    able.map((wallet) => ({ label: `Pay with ${wallet.name}`, icon: wallet.icon, run: () => pay(wallet) })),
  );
}

/** Nothing is under way: the price, and the wallets. */
function idle(...lines: readonly view.Line[]): void {
  [busy, closed] = [false, false];
  view.lock(false);
  view.showStep(undefined);
  view.say(...lines);
  render();
}

function pay(wallet: Wallet): void {
  if (busy) return;
  busy = true;
  view.lock(true);
  view.offerActions([]);
  void alone(() => payOnce(wallet)).then(
    (result) => {
      if (!result) idle({ text: "Another tab of this page is paying. Go on there." });
      else if (!result.ok) failed(result);
    },
    // A wallet may answer with anything.
    (error: unknown) => failed({ ok: false, words: `Something went wrong: ${String(error)}` }),
  );
}

function failed({ words, kind }: Result<never> & { readonly ok: false }): void {
  const pending = load();
  if (pending?.transfer && !pending.proof) missing(pending, words);
  else idle(kind === "declined" || kind === "changed" ? { text: words } : { text: words, tone: "bad" });
}

async function payOnce(wallet: Wallet): Promise<Result<true>> {
  // Invariant: what another tab has signed meanwhile is used, and nothing beside it.
  const earlier = load();
  if (earlier?.proof) return deliver(earlier as Signed);
  const shown = data.offers[chosen];
  step(0, "Asking the seller for today's price.");
  const fresh = await askShop("1");
  if (!fresh.ok) return fresh;
  data = fresh.value;
  if (data.problem && data.offers.length === 0) return stop(wordsOf(data.problem.code, data.problem.message));
  // Invariant: never more is signed than is shown.
  const at = data.offers.findIndex(({ given }) => JSON.stringify(given) === JSON.stringify(shown?.given));
  const offer = data.offers[at];
  if (!offer) return stop("The price has changed. Look at it, and pay if it suits you.", "changed");
  chosen = at;
  const cookies = checkCookies(data);
  if (!cookies.ok) return cookies;
  const id = newId();
  const asked: Asked = { data, offer, id, step };
  const made = await (wallet.family === "evm"
    ? payByEvm(wallet, asked)
    : payBySolana(wallet, asked, (payer) => askShop(`draft ${at} ${payer}`)));
  if (!made.ok) return made;
  const proof = toProof(offer, made.value, data, id);
  if (!fits(proof)) return stop("Your wallet's signature is too long to be sent by a browser. Nothing was taken.");
  const begun = load() ?? { id, price: offer.price, method: offer.method, at: Date.now(), tries: 0 };
  return deliver({ ...begun, proof });
}

/** Sends it, and stays until the content takes the place of this page. */
async function deliver(pending: Signed): Promise<Result<true>> {
  save(pending);
  step(2, `Paying ${pending.price} and fetching what you bought.`);
  send(data, pending, (receipt) => paid(pending, receipt));
  return done(true);
}

/** What was bought did not take the place of this page: it was a download, or nothing that can be shown. */
function paid(pending: Signed, receipt: string): void {
  finish(
    [
      { text: `Paid: ${pending.price}.`, tone: "good" },
      { text: "What you bought has arrived; if it is a file, it is among your downloads." },
      ...(receipt.length > 1 ? [{ text: receipt, tone: "code" } as const] : []),
    ],
    [again("Fetch it again", pending)],
  );
}

/** The end of a payment: the button that pays does not come back for it. */
function finish(lines: readonly view.Line[], actions: readonly view.Action[]): void {
  [busy, closed] = [true, true];
  view.lock(true);
  view.showStep(undefined);
  view.say(...lines);
  view.offerActions(actions);
}

const again = (label: string, pending: Signed): view.Action => ({
  label,
  run: () => void deliver({ ...pending, tries: 0 }),
});

const buyAgain: view.Action = {
  label: "Buy it again",
  second: true,
  run() {
    forget();
    idle({ text: "This will be a new payment." });
  },
};

/** Sends the same payment again by itself, after a while. */
function repeat(pending: Signed, { code, message = "", retryAfter = 0 }: Partial<PageProblem>): void {
  const text = code ? wordsOf(code, message) : "Fetching what you have paid for.";
  const isTired = pending.tries >= MOST_TRIES;
  const promise = isTired ? "is sent again when you say so" : "is sent again in a moment";
  finish(
    [isTired ? { text, tone: "bad" } : { text }, { text: `The same payment ${promise}. You will not pay twice.` }],
    [again("Try again", pending), ...(isTired ? lookActions(pending) : [])],
  );
  if (isTired) return;
  view.showStep(2);
  const seconds = Math.min(Math.max(retryAfter, pending.tries - 1, code ? 1 : 0), LONGEST_WAIT_S);
  setTimeout(() => void deliver(pending), seconds * 1000);
}

/** What came back for a payment of this page. */
function answered(pending: Signed, problem: PageProblem): void {
  const { code, retry, payment, transaction } = problem;
  const receipt: view.Line[] = transaction ? [{ text: transaction, tone: "code" }] : [];
  const isUsed = code === "payment_already_used";
  if (isUsed) finish([{ text: "You have bought this before, and it was delivered." }, ...receipt], [buyAgain]);
  else if (retry === "never") refused(pending, problem);
  else if (retry === "same-payment" || retry === "later" || payment !== "none") repeat(pending, problem);
  else refused(pending, problem);
}

/** It was not accepted, and sending it again would change nothing. */
function refused(pending: Signed, { code, message, got, retry, transaction }: PageProblem): void {
  const why: view.Line[] = [
    { text: wordsOf(code, message), tone: "bad" },
    ...(got ? [{ text: `What came: ${got}` }] : []),
    ...(transaction ? [{ text: transaction, tone: "code" } as const] : []),
  ];
  // Invariant: money that the wallet has sent, and a payment that was not even read, are never forgotten by themselves.
  if (pending.transfer || retry !== "new-payment") {
    finish(why, [again("Try again", pending), ...lookActions(pending), { ...buyAgain, label: "Pay anew" }]);
    return;
  }
  forget();
  idle(...why, { text: "Nothing was taken." });
}

/** The page died while the wallet was asked to send: it may have, or not. */
function missing(pending: Pending, words?: string): void {
  const { transfer } = pending;
  if (!transfer) return;
  const lines: view.Line[] = [
    ...(words ? [{ text: words, tone: "bad" } as const] : []),
    { text: `A transfer of ${pending.price} was begun here. If your wallet has sent it, look for it: it counts.` },
  ];
  finish(lines, [...lookActions(pending), { ...buyAgain, label: "It was not sent: pay anew" }]);
}

/** By the mark that a transfer carries it is found also where the wallet has given it another id. */
const lookActions = (pending: Pending): readonly view.Action[] =>
  wallets
    .filter((one): one is EvmWallet => pending.transfer !== undefined && one.family === "evm")
    .map((wallet) => ({ label: `Look for it with ${wallet.name}`, run: () => void lookFor(pending, wallet) }));

async function lookFor(pending: Pending, { provider }: EvmWallet): Promise<void> {
  const { transfer, id } = pending;
  if (!transfer) return;
  finish([{ text: "Looking for the transfer." }], []);
  const found = await findTransfer(provider, transfer);
  if (!found.ok || found.value === undefined) {
    missing(pending, found.ok ? "No such transfer is on the chain yet." : found.words);
    return;
  }
  const shown = await showTransfer(provider, { data, offer: transfer.offer, id, step }, pending, found.value);
  if (!shown.ok) idle({ text: shown.words, tone: "bad" });
  else await deliver({ ...pending, proof: toProof(transfer.offer, shown.value, data, id) });
}

function begin(): void {
  const pending = load();
  const { problem } = data;
  if (pending?.proof) {
    const signed = pending as Signed;
    if (data.answered && problem) answered(signed, problem);
    else repeat(signed, problem ?? {});
  } else if (pending?.transfer) missing(pending);
  else if (problem && (data.offers.length === 0 || problem.retry !== "new-payment")) {
    finish(
      [{ text: wordsOf(problem.code, problem.message), tone: "bad" }],
      [{ label: "Try again", run: () => location.reload() }],
    );
  } else idle(...(problem ? [{ text: wordsOf(problem.code, problem.message) } as const] : []));
}

/** No wallet came: how to get one, or another device. */
function withoutWallet(): void {
  if (wallets.length === 0) showPhone(data, true);
  const offer = data.offers[chosen];
  if (busy || closed || !offer || wallets.some(({ family }) => family === familyOf(offer))) return;
  const kind = familyOf(offer) === "solana" ? "Solana" : "Ethereum";
  view.say(
    { text: `No ${kind} wallet was found in this browser.` },
    {
      text: `You need one that holds ${offer.symbol}: in this browser, or on your phone.`,
    },
  );
}

const found = (wallet: Wallet): void => {
  wallets.push(wallet);
  const pending = load();
  if (pending?.transfer && !pending.proof && closed) missing(pending);
  else render();
};

sweep();
render();
showPhone(data, false);
findEvmWallets(found);
findSolanaWallets(found);
begin();
setTimeout(withoutWallet, 500);
