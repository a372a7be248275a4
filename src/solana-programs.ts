// Well-known accounts of Solana that nobody owns: money that is sent to one of them is lost.

const PROGRAMS: ReadonlySet<string> = new Set([
  "11111111111111111111111111111111",
  "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
  "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL",
  "ComputeBudget111111111111111111111111111111",
  "AddressLookupTab1e1111111111111111111111111",
  "BPFLoader2111111111111111111111111111111111",
  "BPFLoaderUpgradeab1e11111111111111111111111",
  "Config1111111111111111111111111111111111111",
  "Ed25519SigVerify111111111111111111111111111",
  "KeccakSecp256k11111111111111111111111111111",
  "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
  "Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo",
  "L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95",
  "NativeLoader1111111111111111111111111111111",
  "Stake11111111111111111111111111111111111111",
  "Vote111111111111111111111111111111111111111",
  "1nc1nerator11111111111111111111111111111111",
  // Wrapped SOL: a mint as it is used most.
  "So11111111111111111111111111111111111111112",
]);

/** Is it a program, a system account or a mint that every cluster has? */
export const isSolanaProgram = (address: string): boolean => PROGRAMS.has(address) || /^Sysvar.*1{10,}$/.test(address);
