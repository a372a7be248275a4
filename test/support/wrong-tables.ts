// Pricing tables that are refused, each with the path and the code of its one problem.
import { memoryStore } from "../../src/store/memory.js";
import { good, OTHER, type WrongRow } from "./configurations.js";

export const WRONG_TABLES: readonly WrongRow[] = [
  ["an empty table", { ...good, routes: {} }, {}, "routes", "invalid"],
  ["a table that is a list", { ...good, routes: ["GET /a"] }, {}, "routes", "invalid"],
  [
    "F36: a pattern of another router",
    { ...good, routes: { "GET /c/[a]": "$1" } },
    {},
    'routes["GET /c/[a]"]',
    "invalid",
  ],
  ["a method in lower case", { ...good, routes: { "get /a": "$1" } }, {}, 'routes["get /a"]', "invalid"],
  ["a price of 0", { ...good, routes: { "/a": "$0" } }, {}, 'routes["/a"]', "invalid"],
  ["a price as a number", { ...good, routes: { "/a": 0.01 } }, {}, 'routes["/a"]', "invalid"],
  ["F76: a malformed price", { ...good, routes: { "/a": { price: "$$1" } } }, {}, 'routes["/a"].price', "invalid"],
  ["more decimals than the token has", { ...good, routes: { "/a": "$0.0000001" } }, {}, 'routes["/a"]', "invalid"],
  ["an unknown token", { ...good, routes: { "/a": "1 DOGE" } }, {}, 'routes["/a"]', "unknown_token"],
  ["a line without a price", { ...good, routes: { "/a": { description: "A" } } }, {}, 'routes["/a"].price', "required"],
  [
    "F74: a token without a domain",
    { ...good, routes: { "/a": { amount: "1", asset: OTHER } } },
    {},
    'routes["/a"]',
    "required",
  ],
  [
    "an unknown option of a line",
    { ...good, routes: { "/a": { price: "$1", flaw: "upfront" } } },
    {},
    'routes["/a"].flaw',
    "unknown_option",
  ],
  [
    "a shared option in a line",
    { ...good, routes: { "/a": { price: "$1", store: memoryStore() } } },
    {},
    'routes["/a"].store',
    "unknown_option",
  ],
  [
    "network and networks in a line",
    { ...good, routes: { "/a": { price: "$1", network: "base-sepolia", networks: ["base-sepolia"] } } },
    {},
    'routes["/a"].network',
    "contradiction",
  ],
  [
    "a main network in a line",
    { ...good, routes: { "/a": { price: "$1", network: "base" } } },
    {},
    "receive",
    "required",
  ],
  [
    "a slow handler in a line",
    { ...good, routes: { "/a": { price: "$1", handlerTimeoutMs: 90_000 } } },
    {},
    'routes["/a"].handlerTimeoutMs',
    "contradiction",
  ],
  ["a route twice", { ...good, routes: { "/a": "$1", "GET /A/": "$2" } }, {}, 'routes["GET /A/"]', "contradiction"],
  ["a free key that no request can spell", { ...good, routes: { "/café": "free" } }, {}, 'routes["/café"]', "invalid"],
];
