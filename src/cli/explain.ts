// `tollgate explain`: decodes any x402 value and says in words what it asks or pays and what is wrong with it. Offline, except
// where it is given a URL, which it asks once and does not pay.
import { defineCommand, type OptionSpecs } from "./command.js";
import { findDisagreements } from "./explain/agreement.js";
import { askUnpaid } from "./explain/ask.js";
import { explainPiece } from "./explain/explain-piece.js";
import { type Explained, flawsOf } from "./explain/findings.js";
import { type Input, readInput } from "./explain/input.js";
import { printExplained } from "./explain/print-explained.js";
import { countWrong } from "./explain/words.js";
import { CliError, type Io, usage } from "./io.js";
import { readText } from "./read-text.js";
import { REQUEST_OPTIONS, readRequest } from "./request.js";
import { JSON_OPTION } from "./settings.js";

const options = { ...REQUEST_OPTIONS, ...JSON_OPTION } as const satisfies OptionSpecs;

export const explain = defineCommand({
  name: "explain",
  summary: "Say in words what an x402 header or a 402 asks or pays, and what is wrong with it",
  operands: ["[HEADER|URL|-]"],
  details: [
    "HEADER is the value of X-PAYMENT, PAYMENT-SIGNATURE, PAYMENT-REQUIRED, X-PAYMENT-RESPONSE or PAYMENT-RESPONSE, alone or as",
    "Name: value lines, the JSON of a 402, or a whole answer as curl -i prints it. Without it, or for -, standard input is read.",
    "It is decoded here and asks nobody. A URL gets one request without a payment, and its 402 is explained.",
    "No signature is printed. Who holds a payment can spend it: do not paste one that is still good where others read it.",
  ],
  options,
  exitCodes: [
    ["0", "it could be read, and nothing is wrong with it"],
    ["1", "something is wrong with it, or the URL does not answer"],
    ["2", "the command line is wrong"],
  ],
  examples: [
    "tollgate explain https://api.example/report",
    "curl -si https://api.example/report | tollgate explain",
    "tollgate explain 'PAYMENT-SIGNATURE: eyJ4NDAyVmVyc2lvbiI6Mi…'",
  ],
  async run(values, io, [operand]) {
    const isUrl = operand !== undefined && /^https?:\/\//i.test(operand);
    if (!isUrl && (values.request ?? values.data ?? values.header) !== undefined)
      throw usage("--request, --data and --header belong to a URL: tollgate explain URL");
    const found = isUrl
      ? await explainAnswer(operand, values, io)
      : await explainInput(readInput(await readOperand(operand, io)));
    printExplained(io, values.json, found);
    const count = found.flatMap(flawsOf).length;
    if (count > 0) throw new CliError(`${countWrong(count)}.`);
  },
});

async function readOperand(operand: string | undefined, io: Io): Promise<string> {
  if (operand !== undefined && operand !== "-") return operand;
  if (operand === undefined && io.stdin.isTTY)
    throw usage("explain needs a value: tollgate explain HEADER|URL, or a pipe");
  return readText(io);
}

async function explainInput(input: Input): Promise<Explained[]> {
  const { pieces, idempotencyKey } = input;
  if (pieces.length === 0) throw new CliError("Nothing of x402 is in it: no header of a payment, and no JSON of a 402");
  const context = { idempotencyKey, now: Date.now() };
  const found: Explained[] = [];
  for (const piece of pieces) found.push(await explainPiece(piece, context));
  const last = found.pop();
  if (!last) return found;
  return [...found, { ...last, flaws: [...last.flaws, ...findDisagreements(pieces, [...found, last])] }];
}

async function explainAnswer(url: string, values: Parameters<typeof readRequest>[1], io: Io): Promise<Explained[]> {
  const { answer, input } = await askUnpaid(await readRequest(url, values, io));
  return input.pieces.length === 0 ? [answer] : [answer, ...(await explainInput(input))];
}
