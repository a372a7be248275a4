// Payers that are contracts: a deployed ERC-1271 wallet, a counterfactual one (ERC-6492) and an EIP-7702 account.
import { type Address, encodeFunctionData, getContractAddress, type Hex, keccak256, stringToHex, toHex } from "viem";
import { encodeAbiParameters, numberToHex, serializeErc6492Signature } from "viem/utils";
import type { Anvil } from "./anvil.js";
import type { Signer } from "./authorization.js";
import { testWallet, testWalletFactory } from "./token.artifact.js";
import { sendFromKeeper } from "./token.js";

/** How a wallet answers `isValidSignature`. */
export type WalletMode = "owner" | "rejects" | "accepts" | "burns-gas";

/** A wallet that does not exist yet: it signs as ERC-6492 until it is deployed. */
export interface CounterfactualWallet extends Signer {
  deploy(): Promise<void>;
}

export interface Wallets {
  /** Deploys wallets by CREATE2; goes on an allow-list of factories. */
  readonly factory: Address;
  /** A deployed ERC-1271 wallet; the owner's key signs for it. */
  deployed(owner: Signer, mode?: WalletMode): Promise<Signer>;
  counterfactual(owner: Signer, salt?: Hex): CounterfactualWallet;
  /** Gives a plain account the wallet's code by EIP-7702: it keeps its address and key. */
  delegated(account: Signer, mode?: WalletMode): Promise<Signer>;
  setMode(wallet: Signer, owner: Address, mode: WalletMode): Promise<void>;
}

const modes = { owner: 0n, rejects: 1n, accepts: 2n, "burns-gas": 3n } as const satisfies Record<WalletMode, bigint>;
const place = (label: string): Address => `0x${keccak256(stringToHex(`tollgate sandbox ${label}`)).slice(26)}`;
const noOwner: Address = `0x${"00".repeat(20)}`;

/** Places the wallet's code and its factory on the chain. */
export async function createWallets(chain: Anvil): Promise<Wallets> {
  const factory = place("wallet factory");
  const delegate = place("wallet delegate");
  await chain.batch([
    ["anvil_setCode", [factory, testWalletFactory.runtime]],
    ["anvil_setCode", [delegate, testWallet.runtime]],
  ]);
  let count = 0;

  // Slot 0 of a wallet: the owner in the low 20 bytes, the mode in the byte above.
  const configure = async (wallet: Address, owner: Address, mode: WalletMode) => {
    const word = toHex((modes[mode] << 160n) | BigInt(owner), { size: 32 });
    await chain.rpc("anvil_setStorageAt", [wallet, numberToHex(0, { size: 32 }), word]);
  };

  return {
    factory,
    async deployed(owner, mode = "owner") {
      const address = place(`wallet ${owner.address} ${count++}`);
      await chain.rpc("anvil_setCode", [address, testWallet.runtime]);
      await configure(address, owner.address, mode);
      return { address, signTypedData: owner.signTypedData };
    },
    counterfactual(owner, salt = keccak256(stringToHex(`salt ${count++}`))) {
      const owned = encodeAbiParameters([{ type: "address" }], [owner.address]);
      const bytecode: Hex = `${testWallet.bytecode}${owned.slice(2)}`;
      const args = [owner.address, salt] as const;
      const data = encodeFunctionData({ abi: testWalletFactory.abi, functionName: "createWallet", args });
      return {
        address: getContractAddress({ opcode: "CREATE2", from: factory, salt, bytecode }),
        async signTypedData(typedData) {
          return serializeErc6492Signature({ address: factory, data, signature: await owner.signTypedData(typedData) });
        },
        deploy: () => sendFromKeeper(chain, factory, data),
      };
    },
    async delegated(account, mode = "owner") {
      await chain.rpc("anvil_setCode", [account.address, `0xef0100${delegate.slice(2)}`]);
      await configure(account.address, noOwner, mode);
      return account;
    },
    setMode: (wallet, owner, mode) => configure(wallet.address, owner, mode),
  };
}
