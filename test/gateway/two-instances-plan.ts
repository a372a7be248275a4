// A thousand requests of all kinds, drawn by a seed: what they ask, which of two processes each goes to, and what came of them.
import { dice } from "../support/dice.js";
import type { Answer } from "./call.js";
import { type Kind, newEvmAddress, receiveBody, sign } from "./receiving.js";
import type { Pair, Request, Side } from "./two-instances.js";

export interface Wallet {
  readonly family: "evm" | "solana";
  readonly address: string;
  readonly apiKey: string;
  /** Payments that its limit allows. */
  readonly most: number;
}

/** A fresh proof, and the payee that it pays. */
export interface Proof {
  readonly kind: Kind;
  readonly payee: string;
  readonly header: string;
}

/** Whoever plays: the shared wallets, a caller who reads everything, and sellers with keys of their own. */
export interface Players {
  readonly wallets: readonly Wallet[];
  readonly sellers: readonly string[];
  readonly reader: string;
  readonly kinds: readonly Kind[];
}

export interface Played {
  readonly jobs: readonly (() => Promise<void>)[];
  /** Every request that moves or makes something, with each answer that it got, its repeats' too. */
  readonly answers: ReadonlyMap<Request, readonly Answer[]>;
  /** Which requests show which proof. */
  readonly shown: ReadonlyMap<Proof, readonly Request[]>;
  readonly sends: ReadonlyMap<Wallet, readonly Request[]>;
  /** Answers to reads that are not what they should be. */
  readonly wrong: readonly string[];
}

export const AMOUNT = "0.001";

/** @param count requests in all */
export async function planRequests(pair: () => Pair, players: Players, seed: number, count: number): Promise<Played> {
  const { wallets, sellers, reader, kinds } = players;
  const roll = dice(seed);
  const pick = <One>(all: readonly One[]): One => {
    const one = all[roll(all.length)];
    if (one === undefined) throw new Error("there is nothing to choose from");
    return one;
  };
  const side = (): Side => (roll(2) === 0 ? 0 : 1);
  const other = (one: Side): Side => (one === 0 ? 1 : 0);
  const jobs: (() => Promise<void>)[] = [];
  const answers = new Map<Request, Answer[]>();
  const shown = new Map<Proof, Request[]>();
  const sends = new Map<Wallet, Request[]>(wallets.map((wallet) => [wallet, []]));
  const wrong: string[] = [];

  const newRequest = (path: Request["path"], key: string, body: object): Request => {
    const request = { path, key, body, idempotencyKey: `request-${seed}-${answers.size}` };
    answers.set(request, []);
    return request;
  };
  const post = (at: Side, request: Request): void => {
    jobs.push(async () => void answers.get(request)?.push(await pair().post(at, request)));
  };
  const read = (path: () => string | undefined, holds: (answer: Answer) => boolean): void => {
    const at = side();
    jobs.push(async () => {
      const asked = path();
      if (asked === undefined) return;
      const answer = await pair().get(at, asked, reader);
      if (answer.status !== 200 || !holds(answer)) wrong.push(`${asked}: ${answer.text}`);
    });
  };
  const payeeOf = ({ family }: Pick<Wallet, "family">): Promise<string> =>
    family === "evm" ? Promise.resolve(newEvmAddress()) : pickKind("solana").newPayee();
  const pickKind = (family: string): Kind => {
    const kind = kinds.find(({ network, asset }) => network.startsWith(family) && asset === undefined);
    if (!kind) throw new Error(`nobody pays natively on ${family}`);
    return kind;
  };
  const show = (proof: Proof, at: Side, seller: string): void => {
    const request = newRequest("/payment/receive", seller, receiveBody(proof.kind, proof.payee, proof.header));
    shown.set(proof, [...(shown.get(proof) ?? []), request]);
    post(at, request);
  };

  const draw: readonly (readonly [weight: number, play: () => Promise<void>])[] = [
    [
      22,
      async () => {
        const wallet = pick(wallets);
        const body = { walletAddress: wallet.address, recipientAddress: await payeeOf(wallet), amount: AMOUNT };
        const request = newRequest("/payment/send", wallet.apiKey, body);
        sends.get(wallet)?.push(request);
        post(side(), request);
      },
    ],
    // A fresh proof, at both at once.
    [
      6,
      async () => {
        const kind = pick(kinds);
        const payee = await kind.newPayee();
        const proof = {
          kind,
          payee,
          header: await sign(kind, payee, { offer: { ...kind.offer(payee), maxTimeoutSeconds: 300 } }),
        };
        for (const at of [0, 1] as const) show(proof, at, pick(sellers));
      },
    ],
    [
      8,
      async () => {
        if (shown.size > 0) show(pick([...shown.keys()]), side(), pick(sellers));
      },
    ],
    [
      12,
      async () => {
        const wallet = pick(wallets);
        const body = { walletAddress: wallet.address, recipientAddress: await payeeOf(wallet), amount: AMOUNT };
        post(side(), newRequest("/transaction/send", reader, body));
      },
    ],
    // The same request again, at both.
    [
      14,
      async () => {
        if (answers.size === 0) return;
        const request = pick([...answers.keys()]);
        const first = side();
        post(first, request);
        post(other(first), request);
      },
    ],
    [
      24,
      async () => {
        const of = [...answers.keys()][roll(answers.size + 1)];
        const idOf = () => (of?.key === reader ? answers.get(of)?.[0]?.body.paymentId : undefined);
        const wallet = pick(wallets);
        const path = () => (idOf() === undefined ? `/payment/history/${wallet.address}` : `/payment/status/${idOf()}`);
        read(path, ({ body }) => body.payments !== undefined || body.paymentId === idOf());
      },
    ],
    [
      14,
      async () => {
        const { address } = pick(wallets);
        const limit = 1 + roll(50);
        read(
          () => `/payment/history/${address}?limit=${limit}`,
          ({ body }) => Number(body.payments?.length) <= limit,
        );
      },
    ],
  ];
  // As many chances as it weighs.
  const chances = draw.flatMap(([weight, play]) => Array.from({ length: weight }, () => play));
  while (jobs.length < count) await pick(chances)();
  return { jobs, answers, shown, sends, wrong };
}
