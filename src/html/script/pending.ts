// The payment of this page that is under way: written down before it is sent, so that a closed tab, a cut line or a reload finds
// it again and nobody signs a second time.
import type { PageData, PageOffer } from "../page-data.js";

export interface Pending {
  /** The retry key: with it the same buyer may ask again. */
  readonly id: string;
  readonly price: string;
  readonly method: PageOffer["method"];
  /** Epoch milliseconds. */
  readonly at: number;
  /** The payment, base64url of its JSON. */
  readonly proof?: string;
  /** A transfer that the wallet sends by itself: enough to find it again. */
  readonly transfer?: Transfer;
  /** How often it was sent. */
  readonly tries: number;
}

export interface Transfer {
  readonly offer: PageOffer;
  readonly from: string;
  /** 32 bytes, hex; whoever knows it owns the payment. */
  readonly secret: string;
  /** Its SHA-256, which the transaction carries. */
  readonly reference: string;
  /** The newest block before it was sent. */
  readonly since: string;
}

const KEY = `tollgate:${location.pathname}${location.search}`;
/** Nobody comes back for it later, and no seller remembers it longer. */
const KEEP_MS = 7 * 24 * 60 * 60 * 1000;

let memory: Pending | undefined;

/** The payment of this very URL. */
export function load(): Pending | undefined {
  try {
    const text = localStorage.getItem(KEY);
    memory = text === null ? undefined : (JSON.parse(text) as Pending);
  } catch {
    // Storage is off: what this page knows is all there is.
  }
  return memory && Date.now() - memory.at < KEEP_MS ? memory : undefined;
}

/** False where it could not be written: then only this page knows it. */
export function save(pending: Pending): boolean {
  memory = pending;
  try {
    localStorage.setItem(KEY, JSON.stringify(pending));
    return true;
  } catch {
    return false;
  }
}

/** Removes what nobody comes back for: a browser has little room for one site. */
export function sweep(): void {
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith("tollgate:") && !isKept(localStorage.getItem(key) ?? "")) localStorage.removeItem(key);
    }
  } catch {
    // Storage is off.
  }
}

function isKept(text: string): boolean {
  try {
    return Date.now() - (JSON.parse(text) as Pending).at < KEEP_MS;
  } catch {
    return false;
  }
}

export function forget(): void {
  memory = undefined;
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Nothing was kept.
  }
}

/** Runs alone among all tabs of this page; undefined where another one is at it. */
export async function alone<Value>(run: () => Promise<Value>): Promise<Value | undefined> {
  const { locks } = navigator as { readonly locks?: LockManager };
  if (!locks) return run();
  return locks.request(KEY, { ifAvailable: true }, (lock) => (lock ? run() : undefined));
}

/** A new payment's header value, as base64url. */
export function toProof(offer: PageOffer, payload: object, { extensions }: PageData, id: string): string {
  const echoed = Object.entries(extensions).map(([name, entry]) => {
    const { info } = entry as { readonly info?: object };
    return [name, { info: name === "payment-identifier" ? { ...info, id } : info }];
  });
  const payment = { x402Version: 2, accepted: offer.given, payload, extensions: Object.fromEntries(echoed) };
  const ascii = JSON.stringify(payment).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return btoa(ascii).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** 32 hex digits. */
export const newId = (): string => toHex(crypto.getRandomValues(new Uint8Array(16)));

export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
