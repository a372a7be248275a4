// Where the money goes: one checksummed address for each network, from what the seller wrote. An address that may be a
// slip of the hand is refused, because money sent to a wrong address is gone.
import { optionPath, type Problems, show } from "./config-problems.js";
import { suggestNetwork } from "./network-suggestion.js";
import { checksumAddress, findNetwork, isAddressOf, NETWORKS, type Network } from "./networks.js";
import { isSolanaProgram } from "./solana-programs.js";

/** One address, or addresses by chain family (`evm`, `solana`) or by network name. */
export type PayTo = string | Readonly<Record<string, string>>;

type Family = Network["family"];

/**
 * The addresses of these networks by CAIP-2 id. A network's own entry comes before its family's. Whatever is wrong or
 * missing is added to the problems.
 */
export function resolvePayTo(
  payTo: PayTo,
  networks: readonly Network[],
  path: string,
  problems: Problems,
): Readonly<Record<string, string>> {
  const before = problems.count;
  const byNetwork = typeof payTo === "string" ? undefined : readMap(payTo, path, problems);
  if (typeof payTo === "string") checkOne(payTo, networks, path, problems);

  // An address may be missing because its key could not be read.
  const isRead = problems.count === before;
  const resolved: Record<string, string> = {};
  for (const network of networks) {
    const address = byNetwork ? (byNetwork.get(network.id) ?? byNetwork.get(network.family)) : payTo;
    if (typeof address !== "string") {
      if (isRead)
        problems.add(
          path,
          "required",
          `no address for ${network.name}: add ${network.name} or ${network.family} to payTo`,
        );
    } else if (addressProblem(address, network.family) === undefined) {
      const lost = lostAt(address, network);
      if (lost === undefined) resolved[network.id] = network.family === "evm" ? checksumAddress(address) : address;
      else problems.add(path, "unsafe", `${show(address)} is ${lost}, not a wallet: money sent there is lost`);
    }
  }
  return resolved;
}

/** One address is judged by the families that are paid on; one that fits some of them leaves the others without. */
function checkOne(payTo: string, networks: readonly Network[], path: string, problems: Problems): void {
  const families = [...new Set(networks.map(({ family }) => family))];
  const own = familyOf(payTo);
  if (own === undefined || families.length < 2 || !families.includes(own)) {
    checkAddress(payTo, families[0] ?? own ?? "evm", path, problems);
    return;
  }
  checkAddress(payTo, own, path, problems);
  const others = networks.filter(({ family }) => family !== own);
  const names = others.map(({ name }) => name).join(", ");
  const remedy = `write { ${own}: …, ${others[0]?.family}: … }, or the two separated by a comma in TOLLGATE_PAY_TO`;
  problems.add(path, "required", `it is an address of ${own}, and there is none for ${names}: ${remedy}`);
}

/** What the address is on this network, where no wallet can have it. */
function lostAt(address: string, { family, name, tokens }: Network): string | undefined {
  if (family === "evm") {
    const isToken = tokens.some((token) => token.address.toLowerCase() === address.toLowerCase());
    return isToken ? `a token contract on ${name}` : undefined;
  }
  if (isSolanaProgram(address)) return "an account of Solana that nobody owns";
  // A mint of one cluster is no wallet on another one either.
  const clusters = NETWORKS.filter((network) => network.family === "solana");
  return clusters.some((cluster) => cluster.tokens.some((token) => token.address === address)) ? "a mint" : undefined;
}

/** Addresses by CAIP-2 id or family; an entry that is wrong is left out. */
function readMap(payTo: Readonly<Record<string, string>>, path: string, problems: Problems): Map<string, string> {
  const addresses = new Map<string, string>();
  for (const [key, address] of Object.entries(payTo)) {
    const at = optionPath(path, [key]);
    const family: Family | undefined = key === "evm" || key === "solana" ? key : undefined;
    const network = family ? undefined : findNetwork(key);
    if (!family && !network) {
      const remedy = suggestNetwork(key, ["evm", "solana"]);
      problems.add(at, "unknown_network", `${show(key)} is no chain family and no network: ${remedy}`);
      continue;
    }
    const place = family ?? network?.id ?? key;
    if (addresses.has(place))
      problems.add(at, "contradiction", `${key} names a network that payTo has already: keep one`);
    // A refused address still counts as given, so that it is not reported as missing too.
    addresses.set(place, address);
    checkAddress(address, family ?? network?.family ?? "evm", at, problems);
  }
  return addresses;
}

/** The family that an address has by its form. */
export function familyOf(address: string): Family | undefined {
  if (/^0x/i.test(address)) return "evm";
  return isAddressOf("solana", address) ? "solana" : undefined;
}

/** 32 bytes in hex, or 64 bytes in base58. */
const mayBeKey = (address: string): boolean =>
  /^(?:0x)?[0-9a-f]{64}$/i.test(address) || /^[1-9A-HJ-NP-Za-km-z]{86,88}$/.test(address);

function checkAddress(address: string, family: Family, path: string, problems: Problems): void {
  const problem = addressProblem(address, family);
  if (problem !== undefined) problems.add(path, "invalid", problem);
}

function addressProblem(address: string, family: Family): string | undefined {
  const form = family === "evm" ? "0x and 40 hex digits" : "base58 of 32 bytes";
  if (/^(?:0x)?(?:…|\.{3}|<.*>)$|^0x(?:your.*)?$/i.test(address.trim())) {
    return `${show(address)} stands for an address: put your own receiving address here (${form})`;
  }
  if (mayBeKey(address)) {
    return `expected an address (${form}); got what may be a private key (not shown): remove it and move its funds if it is one`;
  }
  if (/^0x0{40}$/i.test(address)) return `${address} is the zero address, which nobody owns: write your own`;
  if (isAddressOf(family, address)) return undefined;
  if (family === "evm" && /^0x[0-9a-f]{40}$/i.test(address)) {
    return `${address} has a wrong checksum (EIP-55), so a letter may be wrong: copy it again, or write it in lower case`;
  }
  if (/\.[a-z]+$/i.test(address))
    return `expected an address (${form}); got the name ${show(address)}, and names are not looked up`;
  const other = familyOf(address);
  const hint = other && other !== family ? `, which has the form of ${other}` : "";
  return `expected an address of the family ${family} (${form}); got ${show(address)}${hint}`;
}
