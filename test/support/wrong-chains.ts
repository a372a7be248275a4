// What is wrong about several chain families and about a chain's own currency, each with the path and code of its one problem.
import type { Receiver } from "../../src/receive/receiver.js";
import {
  both,
  good,
  KEY,
  RPC_URL,
  receive,
  receiveBoth,
  SELLER,
  SOLANA,
  SOLANA_KEY,
  type WrongRow,
} from "./configurations.js";

const devnet = { payTo: SOLANA, network: "solana-devnet", receive: receiveBoth };
const DEVNET_USDC = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU";
const MAINNET_USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
/** A receiver as others write one: it says nothing of methods. */
const { methods, ...other } = receive;
const foreign: Receiver = other;

const PAYEES: readonly WrongRow[] = [
  ["an EVM address on Solana", { ...devnet, payTo: SELLER }, {}, "payTo", "invalid"],
  ["a Solana address that is too short", { ...devnet, payTo: SOLANA.slice(2) }, {}, "payTo", "invalid"],
  ["a Solana secret key as address", { ...devnet, payTo: SOLANA_KEY }, {}, "payTo", "invalid"],
  ["one EVM address for both families", { ...both, payTo: SELLER }, {}, "payTo", "required"],
  ["one Solana address for both families", { ...both, payTo: SOLANA }, {}, "payTo", "required"],
  ["no Solana address among several", { ...both, payTo: { evm: SELLER } }, {}, "payTo", "required"],
  ["a wrong one among several", { ...both, payTo: { evm: SELLER, solana: SELLER } }, {}, "payTo.solana", "invalid"],
  ["a mint as address", { ...devnet, payTo: DEVNET_USDC }, {}, "payTo", "unsafe"],
  ["a mint of another cluster as address", { ...devnet, payTo: MAINNET_USDC }, {}, "payTo", "unsafe"],
  ["the system program as address", { ...devnet, payTo: "1".repeat(32) }, {}, "payTo", "unsafe"],
  [
    "the token program as address",
    { ...both, payTo: { evm: SELLER, solana: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" } },
    {},
    "payTo",
    "unsafe",
  ],
  [
    "no address in the environment for Solana",
    { ...both, payTo: undefined },
    { TOLLGATE_PAY_TO: SELLER },
    "TOLLGATE_PAY_TO",
    "required",
  ],
];

const line = (price: unknown, more: object = {}) => ({ ...good, ...more, routes: { "/a": price } });

const PRICES: readonly WrongRow[] = [
  ["SOL where there is no Solana", line("0.001 SOL"), {}, 'routes["/a"]', "unknown_token"],
  ["SOL by the environment alone", good, { TOLLGATE_PRICE: "0.001 SOL" }, "TOLLGATE_PRICE", "unknown_token"],
  ["a native price through a facilitator", line("0.0002 ETH"), {}, 'routes["/a"]', "contradiction"],
  ["a native price in a line with options", line({ price: "0.0002 ETH" }), {}, 'routes["/a"].price', "contradiction"],
  ["a native price in a choice", line(["$0.01", "0.0002 ETH"]), {}, 'routes["/a"]', "contradiction"],
  ["a native price of the environment", good, { TOLLGATE_PRICE: "0.0002 ETH" }, "TOLLGATE_PRICE", "contradiction"],
  [
    "a native price and a receiver of others",
    line("0.0002 ETH", { receive: foreign }),
    {},
    'routes["/a"]',
    "contradiction",
  ],
  [
    "a token on Solana and a receiver of others",
    { ...devnet, receive: foreign, routes: { "/a": "$0.01" } },
    {},
    'routes["/a"]',
    "contradiction",
  ],
  [
    "a token by a transaction through a facilitator",
    line({ amount: "1", asset: SELLER, transferMethod: "transaction" }),
    {},
    'routes["/a"]',
    "contradiction",
  ],
  [
    "a mint without decimals",
    { ...devnet, routes: { "/a": { amount: "1", asset: SOLANA } } },
    {},
    'routes["/a"]',
    "required",
  ],
  [
    "confirmations of a token",
    line({ amount: "1", asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e", confirmations: 2 }),
    {},
    'routes["/a"]',
    "contradiction",
  ],
  ["10 decimals of SOL", { ...devnet, routes: { "/a": "0.0000000001 SOL" } }, {}, 'routes["/a"]', "invalid"],
];

const TIMES: readonly WrongRow[] = [
  [
    "a handler slower than Solana settles",
    { ...devnet, handlerTimeoutMs: 41_000 },
    {},
    "handlerTimeoutMs",
    "contradiction",
  ],
  [
    "a handler slower than a transaction lives",
    { ...devnet, handlerTimeoutMs: 41_000, maxTimeoutSeconds: 300 },
    {},
    "handlerTimeoutMs",
    "contradiction",
  ],
  [
    "a Solana network that the receiver does not have",
    { ...devnet, network: "solana-testnet" },
    {},
    "receive",
    "contradiction",
  ],
];

const KEY_SOLANA = "TOLLGATE_SETTLER_KEY_SOLANA";
const without = { ...both, receive: undefined };
const complete = {
  TOLLGATE_RPC_URL_BASE_SEPOLIA: RPC_URL,
  TOLLGATE_RPC_URL_SOLANA_DEVNET: RPC_URL,
  TOLLGATE_SETTLER_KEY_EVM: KEY,
  [KEY_SOLANA]: SOLANA_KEY,
};
const lacking = (name: keyof typeof complete) => ({ ...complete, [name]: "" });

const ENVIRONMENTS: readonly WrongRow[] = [
  ["a Solana settler key that is none", good, { [KEY_SOLANA]: "k" }, KEY_SOLANA, "invalid"],
  ["half a Solana settler key", without, { ...complete, [KEY_SOLANA]: SOLANA_KEY.slice(0, 44) }, KEY_SOLANA, "invalid"],
  [
    "a facilitator and a Solana settler key",
    good,
    { TOLLGATE_FACILITATOR_URL: "https://f.example", [KEY_SOLANA]: SOLANA_KEY },
    "TOLLGATE_FACILITATOR_URL",
    "contradiction",
  ],
  ["both families without the Solana key", without, lacking(KEY_SOLANA), KEY_SOLANA, "required"],
  [
    "both families without the EVM key",
    without,
    lacking("TOLLGATE_SETTLER_KEY_EVM"),
    "TOLLGATE_SETTLER_KEY_EVM",
    "required",
  ],
  [
    "both families without the URL of Solana",
    without,
    lacking("TOLLGATE_RPC_URL_SOLANA_DEVNET"),
    "TOLLGATE_RPC_URL_SOLANA_DEVNET",
    "required",
  ],
  [
    "both families without the URL of EVM",
    without,
    lacking("TOLLGATE_RPC_URL_BASE_SEPOLIA"),
    "TOLLGATE_RPC_URL_BASE_SEPOLIA",
    "required",
  ],
];

export const WRONG_CHAINS: readonly WrongRow[] = [...PAYEES, ...PRICES, ...TIMES, ...ENVIRONMENTS];
