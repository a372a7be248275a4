// The options of `tollgate pay`.
import type { OptionSpecs, Values } from "../command.js";
import { REQUEST_OPTIONS } from "../request.js";

export const PAY_OPTIONS = {
  ...REQUEST_OPTIONS,
  max: {
    type: "string",
    multiple: true,
    value: "0.10",
    description: 'The most that it may cost in dollars, 0.10 by default; or of a native currency: "0.001 SOL"',
  },
  "per-day": {
    type: "string",
    multiple: true,
    value: "5",
    description: "The most of a day, of all runs together; by default 5, or --max where that is more",
  },
  network: { type: "string", multiple: true, value: "NAME", description: "Pay on this network only" },
  wallet: {
    type: "string",
    value: "ADDRESS",
    description: "Pay with this wallet of the gateway at TOLLGATE_GATEWAY_URL",
  },
  yes: { type: "boolean", short: "y", description: "Do not ask before the first payment to a host" },
  "allow-http": { type: "boolean", description: "Pay over plain http: the network between is yours" },
  quote: { type: "boolean", description: "Say what it would cost, and pay nothing" },
  output: { type: "string", short: "o", value: "FILE", description: "Write the body to a file" },
  include: { type: "boolean", short: "i", description: "Print the answer's status and headers, too" },
  json: { type: "boolean", description: "Print { status, receipt, body } as JSON" },
} as const satisfies OptionSpecs;

export type PayValues = Values<typeof PAY_OPTIONS>;
