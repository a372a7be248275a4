// One purchase from its request to its last byte, and how it ended. What paid for an answer is let go of only once the answer has
// been written out whole.
import { join } from "node:path";
import type { Purchase } from "../../client/purchase.js";
import type { CliError, Io } from "../io.js";
import { printable } from "../print.js";
import type { WrittenRequest } from "../request.js";
import { reserveFile, writeAnswer } from "./answer.js";
import { printAnswer, readAnswer } from "./json-answer.js";
import type { OpenBuyer } from "./open-buyer.js";
import type { PayValues } from "./options.js";
import { brokenOff, interrupted, toCliError, unserved } from "./outcome.js";
import { printQuote } from "./print-quote.js";
import { receiptLine } from "./purchase-words.js";

/** Asks, pays where it must, and writes the answer out. Rejects with a CliError unless it was served. */
export async function buy(buyer: OpenBuyer, request: WrittenRequest, values: PayValues, io: Io): Promise<void> {
  const { signal, host, fetch: paying, approval, progress } = buyer;
  const { url, method, headers, body } = request;
  const init = { method, headers, ...(body && { body }), signal };
  if (values.quote) {
    const quoted = await paying.quote(url, init).catch((error: unknown) => Promise.reject(refusalOf(error, buyer)));
    const refusal = printQuote(io, values.json, quoted, host);
    if (refusal) throw refusal;
    return;
  }
  const unreserve = await reserveFile(values.output);
  let response: Response;
  try {
    response = await paying(url, init);
  } catch (error) {
    await unreserve();
    const { wasNobodyThere: isNobodyThere } = approval;
    const refusal = signal.aborted
      ? interrupted(isSent(buyer))
      : toCliError(error, { host, isNobodyThere, isOld: progress.isOld });
    await finish(buyer, io);
    if (values.json) await printAnswer(io, { status: null, ...(await boughtBy(buyer)), error: refusal });
    throw refusal;
  }
  await deliver(buyer, response, values, io);
}

const isSent = ({ progress }: OpenBuyer): boolean =>
  progress.purchase !== undefined && progress.isSent(progress.purchase.id);

const refusalOf = (error: unknown, { signal, host }: OpenBuyer): CliError =>
  signal.aborted ? interrupted(false) : toCliError(error, { host, isNobodyThere: false, isOld: false });

/** What this run has paid for, as it stands in the store. */
async function boughtBy(buyer: OpenBuyer): Promise<{ purchase: Purchase | undefined; isOld: boolean }> {
  const { progress, fetch: paying } = buyer;
  const { purchase, isOld } = progress;
  if (!purchase || !isSent(buyer)) return { purchase: undefined, isOld };
  const all = await paying.receipts().catch(() => []);
  return { purchase: all.find(({ id }) => id === purchase.id) ?? purchase, isOld };
}

async function deliver(buyer: OpenBuyer, response: Response, values: PayValues, io: Io): Promise<void> {
  const { purchase, isOld } = await boughtBy(buyer);
  const { status } = response;
  if (purchase) io.stderr.write(`${printable(receiptLine(purchase, isOld))}\n`);
  const error = response.ok ? undefined : unserved(status, purchase);
  try {
    if (values.json) await printAnswer(io, { status, purchase, isOld, read: await readAnswer(response), error });
    else {
      const fallback = join(buyer.state.folder, "answers", purchase?.id ?? "latest");
      await writeAnswer(io, response, { file: values.output, fallback, include: values.include });
    }
  } catch (cause) {
    // Whoever reads has had enough: what was paid for has come.
    if (isClosedPipe(cause)) return finish(buyer, io);
    // Invariant: here nothing is let go of, so that the same command collects the answer again.
    const broken = buyer.signal.aborted && !purchase ? interrupted(false) : brokenOff(cause, purchase);
    if (values.json) await printAnswer(io, { status, purchase, isOld, error: broken });
    throw broken;
  }
  await finish(buyer, io);
  if (error) throw error;
}

const isClosedPipe = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED");

/** Lets go of what need not be sent again. A store that fails now costs nothing: the proof is sent once more some day. */
async function finish({ held }: OpenBuyer, io: Io): Promise<void> {
  await held.release().catch((error: unknown) => {
    io.stderr.write(`What was paid for could not be crossed off: ${printable(String(error))}\n`);
  });
}
