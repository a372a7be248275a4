// One request without a payment, for what its answer asks. No redirect is followed, no body is read beyond a bound.
import { cancelBody, readBodyText } from "../../client/bounded-body.js";
import { reasonOf } from "../fetch-words.js";
import { CliError } from "../io.js";
import type { WrittenRequest } from "../request.js";
import { createFindings, cut, type Explained } from "./findings.js";
import { CARRIERS, type Input, type Piece } from "./input.js";

const BOUNDS = { maxBytes: 256 * 1024, timeoutMs: 15_000 } as const;

export interface Asked {
  /** The answer itself. */
  readonly answer: Explained;
  /** The challenges in it. */
  readonly input: Input;
}

/** @throws CliError (1) where nobody answers. */
export async function askUnpaid({ url, method, headers, body }: WrittenRequest): Promise<Asked> {
  const signal = AbortSignal.timeout(BOUNDS.timeoutMs);
  const response = await fetch(url, { method, headers, ...(body && { body }), redirect: "manual", signal }).catch(
    (error: unknown) => {
      throw new CliError(`${new URL(url).host} does not answer: ${reasonOf(error)}`);
    },
  );
  const { status } = response;
  const out = createFindings("answer");
  out.fact("status", `${status}`);
  const location = response.headers.get("Location");
  if (location !== null) out.fact("location", cut(location, 200));
  const explain = (says: string) => out.explained({ kind: "answer", version: undefined, says });
  const input: Input = { pieces: status === 402 ? await piecesOf(response) : [], idempotencyKey: undefined };
  if (status !== 402) {
    cancelBody(response);
    return { answer: explain(`${method} ${url} answers ${status}: ${meaningOf(status)}`), input };
  }
  if (input.pieces.length === 0) {
    out.flaw("answer", "a PAYMENT-REQUIRED header, or a JSON body with accepts", "a 402 with neither");
  }
  return { answer: explain(`${method} ${url} asks for payment`), input };
}

async function piecesOf(response: Response): Promise<Piece[]> {
  const pieces: Piece[] = [];
  const header = response.headers.get("PAYMENT-REQUIRED");
  if (header !== null) pieces.push({ carrier: CARRIERS["payment-required"], form: "header", text: header });
  const body = await readBodyText(response, BOUNDS);
  // Beside the header a page for people is as good as nothing.
  const isJson = body.ok && /^\s*\{/.test(body.text) && (header === null || /"accepts"/.test(body.text));
  if (isJson) pieces.push({ carrier: undefined, form: "json", text: body.text });
  return pieces;
}

function meaningOf(status: number): string {
  if (status < 300) return "it asks for no payment";
  if (status < 400) return "it leads elsewhere, and that is not followed here";
  return status < 500 ? "it does not ask for payment, but refuses the request" : "the server has an error";
}
