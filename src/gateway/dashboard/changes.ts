// Changes that widen what money can do, or who may say so. Each is read from its form, told in one line that a wallet signs, and
// carried out only for that signature: the form is read anew then, so that what is done is what was signed.
import { createKey } from "../admin/create-key.js";
import { type Fault, fault, type Outcome } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import type { CreateKeyRequest } from "../schemas/admin.js";
import { findKey, likeKey, type MadeKey, readKeyForm } from "./key-actions.js";
import { describeLimit, readLimitForm } from "./limit-actions.js";
import type { Session } from "./session.js";
import { type Form, textOf } from "./signed-form.js";

export interface Change {
  /** One line: exactly what is done. */
  readonly statement: string;
  /** Why this address may not sign for it; undefined = it may. */
  refusalOf(address: string): Promise<Fault | undefined>;
  run(address: string): Promise<Outcome<Done>>;
}

/** A new key with its secret and the one that it stands in for, or the page on which the change is seen. */
export type Done =
  | { readonly page: "/account" | "/wallets" }
  | (Extract<MadeKey, { ok: true }>["value"] & { readonly oldKey: string | undefined });

type Read = (parts: GatewayParts, session: Session, form: Form) => Promise<Outcome<Change>>;

const CHANGES: Readonly<Record<string, Read>> = {
  async key(parts, session, form) {
    const request = readKeyForm(form);
    if (!request.ok) return request;
    return newKey(parts, session, request.value, "Make an API key.");
  },
  async rotate(parts, session, form) {
    const old = await findKey(parts, session.account.id, textOf(form.key));
    if (!old) return NO_KEY;
    return newKey(parts, session, likeKey(old), `Make an API key in place of ${old.prefix}.`, old.id);
  },
  async limit(parts, session, form) {
    const read = await readLimitForm(parts, session.account.id, form);
    if (!read.ok) return read;
    const { wallet, limit } = read.value;
    return {
      ok: true,
      value: {
        statement: `Let the hosted wallet ${wallet.address} send ${describeLimit(parts, limit)}.`,
        refusalOf: byAccount(parts, session),
        async run() {
          const set = await parts.database.wallets.setLimit(session.account.id, wallet.id, limit, true);
          return set === "set" ? { ok: true, value: { page: "/wallets" } } : NO_WALLET;
        },
      },
    };
  },
  async signer(parts, session) {
    const { id, name } = session.account;
    return {
      ok: true,
      value: {
        statement: `Let this wallet sign in to the account ${id}, and sign for what its money may do. ${nameText(name)}`,
        // Invariant: who signs for an account is said by whoever has just signed in. A session that is merely open could be
        // somebody else's by now.
        refusalOf: async () => (session.isNew ? undefined : NOT_NEW),
        async run(address) {
          const added = await parts.database.signers.add(id, address);
          return added ? { ok: true, value: { page: "/account" } } : OTHERS;
        },
      },
    };
  },
};

export async function readChange(parts: GatewayParts, session: Session, form: Form): Promise<Outcome<Change>> {
  const kind = textOf(form.change);
  const read = Object.hasOwn(CHANGES, kind) ? CHANGES[kind] : undefined;
  return read ? read(parts, session, form) : fault("INVALID_REQUEST", "there is no such change");
}

async function newKey(
  parts: GatewayParts,
  session: Session,
  request: CreateKeyRequest,
  what: string,
  oldKey?: string,
): Promise<Outcome<Change>> {
  const { name, mode, plan, scopes, wallets = [], expiresAt } = request;
  const own = await parts.database.wallets.list(session.account.id);
  const named = own.filter((wallet) => wallet.mode === mode && wallets.includes(wallet.id));
  if (named.length < new Set(wallets).size) return NO_WALLET;
  const from = named.length > 0 ? ` from ${named.map(({ address }) => address).join(", ")}` : "";
  const until = expiresAt === undefined ? "for ever" : `until ${new Date(expiresAt * 1000).toISOString()}`;
  return {
    ok: true,
    value: {
      statement: `${what} It may ${scopes.join(", ")}${from} on ${mode} networks, plan ${plan}, ${until}. ${nameText(name)}`,
      refusalOf: byAccount(parts, session),
      async run() {
        const made = await createKey(parts, session.account.id, request);
        return made.ok ? { ok: true, value: { ...made.value, oldKey } } : made;
      },
    },
  };
}

/**
 * Invariant: what is done is told before what somebody has chosen to call it, so that no name can be read as a part of it; and a
 * name begins no line and turns no direction of writing.
 */
const nameText = (name: string): string =>
  `Its name: '${name.replace(/[\p{C}\p{Zl}\p{Zp}\\]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`)}'`;

/** Invariant: what widens is signed by a wallet of this very account. */
const byAccount =
  ({ database }: GatewayParts, { account }: Session): Change["refusalOf"] =>
  async (address) =>
    (await database.signers.accountOf(address)) === account.id ? undefined : NOT_YOURS;

const NO_KEY = fault("NOT_FOUND", "This account has no such key.");
const NO_WALLET = fault("NOT_FOUND", "This account has no such wallet on these networks.");
const NOT_YOURS = fault("FORBIDDEN", "This wallet does not sign for this account.");
const NOT_NEW = fault(
  "FORBIDDEN",
  "Say so within ten minutes of signing in: sign out, sign in again, and come back here.",
);
const OTHERS = fault("FORBIDDEN", "Another account has shown that this wallet is its own.");
