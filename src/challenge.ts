// The 402: one list of offers as a v2 header and a v1 body in one answer, so that every published client is served.
// Everything but the URL is built once per route; JSON's white space pads the pieces so that base64 can be spliced.
import { ERRORS, type ErrorCode, type ErrorFacts, reasonOf } from "./errors.js";
import type { Network } from "./networks.js";
import { PAYMENT_IDENTIFIER } from "./proof.js";
import { EXPOSED_HEADERS, explain, VARY_HEADERS } from "./refusal.js";
import type { Answer, HeaderList } from "./request.js";
import type { Requirement, Resource } from "./requirement.js";
import { asciiToBase64, toAsciiJson } from "./wire/header.js";
import { toOfferV1 } from "./wire/v1.js";
import { toOfferV2 } from "./wire/v2.js";

/** The 402 of one route. */
export interface Challenge {
  /** The answer to a request without a proof. `url`: absolute. */
  required(url: string): Answer;
  /** A refusal that invites a new payment: the same offers, with the reason why this proof did not do. */
  refused(url: string, code: ErrorCode, facts: ErrorFacts, headers: HeaderList): Answer;
}

/** Buyers send their retry key only where it is offered. Source: protocol §8. */
export const EXTENSIONS = {
  [PAYMENT_IDENTIFIER]: {
    info: { required: false },
    schema: {
      type: "object",
      properties: { required: { type: "boolean" }, id: { type: "string", pattern: "^[a-zA-Z0-9_-]{16,128}$" } },
    },
  },
};

/** Builds what a route's challenges share. */
export function prepareChallenge(
  offers: readonly { readonly requirement: Requirement; readonly network: Network }[],
  meta: Omit<Resource, "url">,
): Challenge {
  const v2 = (error: string) => ({
    head: `{"x402Version":2,"error":${toAsciiJson(error)},"resource":{"url":`,
    tail:
      `,"description":${toAsciiJson(meta.description)},"mimeType":${toAsciiJson(meta.mimeType)}}` +
      `,"accepts":${toAsciiJson(offers.map(({ requirement }) => toOfferV2(requirement)))}` +
      `,"extensions":${toAsciiJson(EXTENSIONS)}}`,
  });
  const accepts = splitAtUrl(offers, meta);
  const head = `{"x402Version":1,"error":`;

  const header = spliceBase64(v2(reasonOf("payment_required", 2)));
  const bodyHead = `${head}${toAsciiJson(reasonOf("payment_required", 1))},"accepts":[`;
  const bodyTail = `],${toAsciiJson(explain("payment_required")).slice(1)}`;

  const build = (url: string): Answer => {
    const json = toAsciiJson(url);
    return answer(ERRORS.payment_required.status, header(json), bodyHead + accepts.join(json) + bodyTail, []);
  };

  const challenge: Challenge = {
    required(url) {
      const before = recent.get(url);
      if (before?.of === challenge) return before.answer;
      const built = build(url);
      if (recent.size >= MAX_RECENT) recent.clear();
      if (url.length <= MAX_RECENT_LENGTH) recent.set(url, { of: challenge, answer: built });
      return built;
    },
    refused(url, code, facts, headers) {
      const json = toAsciiJson(url);
      const reasonV1 = facts.reason ?? reasonOf(code, 1);
      const { head: start, tail } = v2(facts.reason ?? reasonOf(code, 2));
      const body = `${head}${toAsciiJson(reasonV1)},"accepts":[${accepts.join(json)}],${toAsciiJson(explain(code, facts)).slice(1)}`;
      return answer(ERRORS[code].status, asciiToBase64(start + json + tail), body, headers);
    },
  };
  return challenge;
}

/**
 * The last answers of all challenges by their URL: the same few pages are asked for again and again. Bounded for all routes
 * together, because anybody may ask for any query.
 */
const recent = new Map<string, { readonly of: Challenge; readonly answer: Answer }>();
const MAX_RECENT = 256;
const MAX_RECENT_LENGTH = 300;

function answer(status: number, required: string, body: string, headers: HeaderList): Answer {
  return {
    status,
    headers: [
      ["Content-Type", "application/json; charset=utf-8"],
      ["Cache-Control", "no-store"],
      ["Vary", VARY_HEADERS],
      ["Access-Control-Expose-Headers", EXPOSED_HEADERS],
      ["PAYMENT-REQUIRED", required],
      ...headers,
    ],
    body,
  };
}

/** The v1 offers as JSON, cut where the URL belongs; offers that v1 cannot express are left out. */
function splitAtUrl(
  offers: readonly { readonly requirement: Requirement; readonly network: Network }[],
  meta: Omit<Resource, "url">,
): readonly string[] {
  // A URL cannot hold a control character, so this one marks the place and nothing else.
  const mark = "http://\u0001/";
  const expressible = forV1(offers)
    .map(({ requirement, network }) => toOfferV1(requirement, { ...meta, url: mark }, network))
    .filter((offer) => offer !== undefined);
  return expressible
    .map((offer) => toAsciiJson(offer))
    .join(",")
    .split(toAsciiJson(mark));
}

/**
 * Clients of x402 1.x cannot pay by a transaction of their own, and some throw at an offer that they do not know: it stands
 * in a v1 body only where there is nothing else to choose. Source: design §6.
 *
 * EVM offers come first, whatever the seller's order: with an account that names no chain those clients take the first
 * offer in USDC and throw where it is one of Solana, while with a Solana key they take their own wherever it stands.
 */
function forV1<Offer extends { readonly requirement: Requirement }>(offers: readonly Offer[]): readonly Offer[] {
  const signable = offers.filter(({ requirement }) => requirement.method !== "transaction");
  const isEvm = ({ requirement }: Offer) => requirement.method === "eip3009";
  const ordered = [...signable.filter(isEvm), ...signable.filter((offer) => !isEvm(offer))];
  return ordered.length > 0 ? ordered : offers;
}

/** base64 of head + url + tail with head and tail encoded once: all three are padded to whole groups of three bytes. */
function spliceBase64({ head, tail }: { readonly head: string; readonly tail: string }): (urlJson: string) => string {
  const pad = (text: string) => text + " ".repeat((3 - (text.length % 3)) % 3);
  const start = asciiToBase64(pad(head));
  const end = asciiToBase64(tail);
  return (urlJson) => start + asciiToBase64(pad(urlJson)) + end;
}
