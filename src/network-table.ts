// The one table of networks and tokens, for protocol v1 and v2 alike. Source: protocol §7; names, native currencies and
// block times are viem's. An EIP-712 domain is the token contract's own, letter by letter: one wrong letter and no
// signature on that chain is valid, so the local receiver compares each with `DOMAIN_SEPARATOR()` at start.
import type { Network, Token } from "./networks.js";

type Names = Pick<Network, "v1Name" | "aliases">;

/** Native symbol and block time in milliseconds. */
const chain = (symbol: string, blockMs: number) => ({ symbol, blockMs });

/** A token with 6 decimals and EIP-3009. */
function token(symbol: string, address: string, name: string, version: string, more: Partial<Token> = {}): Token {
  const domain = Object.freeze({ name, version });
  return Object.freeze({ symbol, address, decimals: 6, domain, transferMethod: "eip3009", ...more });
}

const usdc = (address: string, name: string) => token("USDC", address, name, "2");
const bridged = (address: string, name = "Bridged USDC") => token("USDC.e", address, name, "2");
/** A token that x402 1.x spells in lower case (protocol §9.10). */
const lowerInV1 = (entry: Token): Token => Object.freeze({ ...entry, v1Address: entry.address.toLowerCase() });
const byPermit2 = (symbol: string, address: string, name: string, decimals: number) =>
  token(symbol, address, name, "1", { decimals, transferMethod: "permit2" });

function network(chainId: number, name: string, names: Names, testnet: boolean, row: Row): Network {
  const { symbol, blockMs } = row.chain;
  return Object.freeze({
    id: `eip155:${chainId}`,
    family: "evm",
    chainId,
    name,
    v1Name: names.v1Name,
    aliases: Object.freeze([...names.aliases]),
    testnet,
    native: Object.freeze({ symbol, decimals: 18 }),
    tokens: Object.freeze([...row.tokens]),
    // A settlement that just missed a block waits for the next one, and for the answer that it is in it.
    settleMs: Math.max(10_000, 2 * blockMs + 1_000),
    blockMs,
  });
}

interface Row {
  readonly chain: { readonly symbol: string; readonly blockMs: number };
  readonly tokens: readonly Token[];
}

/** A name of the enum of x402 1.x: it may stand in a v1 body. */
const v1 = (v1Name: string, ...aliases: string[]): Names => ({ v1Name, aliases });
/** Names that other implementations use in v1: understood, never written. */
const known = (...aliases: string[]): Names => ({ v1Name: undefined, aliases });

const main = (id: number, name: string, names: Names, chain: Row["chain"], ...tokens: Token[]) =>
  network(id, name, names, false, { chain, tokens });
const test = (id: number, name: string, names: Names, chain: Row["chain"], ...tokens: Token[]) =>
  network(id, name, names, true, { chain, tokens });

/** Address of the classic token program. */
export const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
/** Address of the newer token program, whose mints can carry rules of their own. Source: protocol §7.3. */
export const TOKEN_2022 = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";

/** A mint with 6 decimals, of the classic token program. */
const spl = (symbol: string, address: string): Token =>
  Object.freeze({ symbol, address, decimals: 6, transferMethod: "spl" });
const spl2022 = (symbol: string, address: string): Token =>
  Object.freeze({ ...spl(symbol, address), tokenProgram: TOKEN_2022 });

function cluster(genesis: string, name: string, names: Names, testnet: boolean, ...tokens: Token[]): Network {
  return Object.freeze({
    id: `solana:${genesis}`,
    family: "solana",
    chainId: undefined,
    name,
    v1Name: names.v1Name,
    aliases: Object.freeze([...names.aliases]),
    testnet,
    native: Object.freeze({ symbol: "SOL", decimals: 9 }),
    tokens: Object.freeze(tokens),
    // A block comes quickly, but the confirmation that one waits for may take many of them.
    settleMs: 20_000,
    blockMs: 400,
  });
}

const eth = (blockMs: number) => chain("ETH", blockMs);

export const NETWORK_TABLE: readonly Network[] = Object.freeze([
  main(8453, "base", v1("base"), eth(2_000), usdc("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USD Coin")),
  test(
    84532,
    "base-sepolia",
    v1("base-sepolia"),
    eth(2_000),
    usdc("0x036CbD53842c5426634e7929541eC2318f3dCF7e", "USDC"),
  ),
  main(1, "mainnet", known("ethereum"), eth(12_000), usdc("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "USD Coin")),
  test(11155111, "sepolia", known(), eth(12_000)),
  main(10, "optimism", known(), eth(2_000)),
  test(11155420, "optimism-sepolia", known(), eth(2_000)),
  main(
    137,
    "polygon",
    v1("polygon"),
    chain("POL", 2_000),
    lowerInV1(usdc("0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", "USD Coin")),
  ),
  test(
    80002,
    "polygon-amoy",
    v1("polygon-amoy"),
    chain("POL", 2_000),
    usdc("0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582", "USDC"),
  ),
  main(42161, "arbitrum", known(), eth(250), usdc("0xaf88d065e77c8cC2239327C5EDb3A432268e5831", "USD Coin")),
  test(421614, "arbitrum-sepolia", known(), eth(250), usdc("0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d", "USD Coin")),
  main(
    43114,
    "avalanche",
    v1("avalanche"),
    chain("AVAX", 1_700),
    usdc("0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", "USD Coin"),
  ),
  test(
    43113,
    "avalanche-fuji",
    v1("avalanche-fuji"),
    chain("AVAX", 2_000),
    usdc("0x5425890298aed601595a70AB815c96711a31Bc65", "USD Coin"),
  ),
  main(
    1329,
    "sei",
    v1("sei"),
    chain("SEI", 400),
    lowerInV1(usdc("0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392", "USDC")),
  ),
  test(
    1328,
    "sei-testnet",
    v1("sei-testnet"),
    chain("SEI", 400),
    lowerInV1(usdc("0x4fCF1784B31630811181f670Aea7A7bEF803eaED", "USDC")),
  ),
  main(
    4689,
    "iotex",
    v1("iotex"),
    chain("IOTX", 2_500),
    lowerInV1(bridged("0xcDf79194C6C285077A58da47641D4dBe51F63542")),
  ),
  main(3338, "peaq", v1("peaq"), chain("PEAQ", 6_000), usdc("0xbbA60da06c2c5424f03f7434542280FCAd453d10", "USDC")),
  main(2741, "abstract", v1("abstract"), eth(200), lowerInV1(bridged("0x84A71ccD554Cc1b02749b35d22F684CC8ec987e1"))),
  test(
    11124,
    "abstract-testnet",
    v1("abstract-testnet"),
    eth(200),
    bridged("0xe4C7fBB0a626ed208021ccabA6Be1566905E2dFc"),
  ),
  main(1514, "story", v1("story"), chain("DATA", 2_500), bridged("0xF1815bd50389c46847f0Bda824eC8da914045D14")),
  main(
    41923,
    "edu-chain",
    v1("educhain"),
    chain("EDU", 2_000),
    bridged("0x12a272A581feE5577A5dFa371afEB4b2F3a8C2F8", "Bridged USDC (Stargate)"),
  ),
  main(
    1187947933,
    "skale-base",
    known(),
    chain("CREDIT", 2_000),
    bridged("0x85889c8c714505E0c94b30fcfcF64fE3Ac8FCb20", "Bridged USDC (SKALE Bridge)"),
  ),
  test(
    324705682,
    "skale-base-sepolia-testnet",
    v1("skale-base-sepolia"),
    chain("CREDIT", 2_000),
    bridged("0x2e08028E3C4c2356572E096d8EF835cD5C6030bD", "Bridged USDC (SKALE Bridge)"),
  ),
  main(143, "monad", known(), chain("MON", 400), usdc("0x754704Bc059F8C67012fEd69BC8A327a5aafb603", "USDC")),
  test(10143, "monad-testnet", known(), chain("MON", 400), usdc("0x534b2f3A21130d7a60830c2Df862319e593943A3", "USDC")),
  main(
    42220,
    "celo",
    known(),
    chain("CELO", 1_000),
    usdc("0xcebA9300f2b948710d2653dD7B07f33A8B32118C", "USDC"),
    token("USDT", "0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e", "Tether USD", "1"),
    token("USAT", "0xD2ab3C9A02DBBAB236BfEC45D1d755DF4267F771", "Tether America USD", "1"),
  ),
  test(
    11142220,
    "celo-sepolia",
    known(),
    chain("S-CELO", 1_000),
    usdc("0x01C5C0122039549AD1493B8220cABEdD739BC44E", "USDC"),
  ),
  main(50, "xdc", known(), chain("XDC", 2_000), usdc("0xfA2958CB79b0491CC627c1557F441eF849Ca8eb1", "USDC")),
  test(51, "xdc-testnet", known(), chain("TXDC", 2_000), usdc("0xb5AB69F7bBada22B28e79C8FFAECe55eF1c771D4", "USDC")),
  main(
    4326,
    "megaeth",
    known(),
    eth(1_000),
    byPermit2("MegaUSD", "0xFAfDdbb3FC7688494971a79cc65DCa3EF82079E7", "MegaUSD", 18),
  ),
  main(
    988,
    "stable",
    known(),
    chain("USDT0", 700),
    token("USDT0", "0x779Ded0c9e1022225f8E0630b35a9b54bE713736", "USDT0", "1"),
  ),
  test(
    2201,
    "stable-testnet",
    known(),
    chain("USDT0", 700),
    token("USDT0", "0x78Cf24370174180738C5B8E352B6D14c83a6c9A9", "USDT0", "1"),
  ),
  main(
    31612,
    "mezo",
    known(),
    chain("BTC", 4_000),
    byPermit2("mUSD", "0xdD468A1DDc392dcdbEf6db6e34E89AA338F9F186", "Mezo USD", 18),
  ),
  test(
    31611,
    "mezo-testnet",
    known(),
    chain("BTC", 4_000),
    byPermit2("mUSD", "0x118917a40FAF1CD7a13dB0Ef56C86De7973Ac503", "Mezo USD", 18),
  ),
  main(
    723487,
    "radius",
    known(),
    chain("RUSD", 2_000),
    byPermit2("SBC", "0x33ad9e4BD16B69B5BFdED37D8B5D9fF9aba014Fb", "Stable Coin", 6),
  ),
  test(
    72344,
    "radius-testnet",
    known(),
    chain("RUSD", 2_000),
    byPermit2("SBC", "0x33ad9e4BD16B69B5BFdED37D8B5D9fF9aba014Fb", "Stable Coin", 6),
  ),
  main(36900, "adi", known(), chain("ADI", 2_000), bridged("0x9cb8142aEBBcdc60AF7c97Af897A67A8f3CA71C2", "USDC.e")),
  main(190415, "hpp", known(), eth(2_000), bridged("0x401eCb1D350407f13ba348573E5630B83638E30D")),
  test(181228, "hpp-sepolia", known(), eth(2_000), bridged("0x401eCb1D350407f13ba348573E5630B83638E30D")),
  main(
    38833,
    "igra",
    known(),
    chain("iKAS", 1_000),
    byPermit2("USDC", "0xA5b8BF902b2844dA17d4506cc827F7F1681735E7", "USDC", 6),
  ),
  main(
    14,
    "flare",
    known(),
    chain("FLR", 2_000),
    token("USDT0", "0xe7cd86e13AC4309349F30B3435a9d337750fC82D", "USD\u20ae0", "1"),
  ),
  main(
    1440000,
    "xrplevm",
    known("xrpl-evm"),
    chain("XRP", 4_000),
    token("USDC", "0xDaF4556169c4F3f2231d8ab7BC8772Ddb7D4c84C", "USDC", "1"),
  ),
  cluster(
    "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
    "solana",
    v1("solana", "solana-mainnet-beta", "solana:mainnet"),
    false,
    spl("USDC", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"),
    spl("USDT", "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB"),
    spl2022("USDG", "2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH"),
    spl2022("PYUSD", "2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo"),
    spl2022("CASH", "CASHx9KJUStyftLFWGvEVf59SGeG9sh5FfcnZMVPCASH"),
  ),
  cluster(
    "EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
    "solana-devnet",
    v1("solana-devnet", "solana:devnet"),
    true,
    spl("USDC", "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU"),
    spl2022("USDG", "4F6PM96JJxngmHnZLBh9n58RH4aTVNWvDs2nuwrT5BP7"),
    spl2022("PYUSD", "CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM"),
  ),
  cluster(
    "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z",
    "solana-testnet",
    known(),
    true,
    spl("USDC", "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU"),
  ),
]);
