// A client of @solana/kit on a node of the test's own: `node kit-confirm.mjs RPC_URL WS_URL`, the payer's key file on the
// standard input. Sends a memo, waits for it over the WebSocket as kit does, then sends it again. Prints what it was told.
import { text } from "node:stream/consumers";
import {
  appendTransactionMessageInstruction,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  isSolanaError,
  pipe,
  SOLANA_ERROR__TRANSACTION_ERROR__ALREADY_PROCESSED,
  sendAndConfirmTransactionFactory,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import { toSigner } from "./buyers/solana/_keys.mjs";

const [rpcUrl, wsUrl] = process.argv.slice(2);
const rpc = createSolanaRpc(rpcUrl);
const rpcSubscriptions = createSolanaRpcSubscriptions(wsUrl);
const payer = await toSigner(JSON.parse(await text(process.stdin)));

const memo = {
  programAddress: "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
  accounts: [],
  data: new TextEncoder().encode("hello"),
};
const { value: blockhash } = await rpc.getLatestBlockhash().send();
const transaction = await pipe(
  createTransactionMessage({ version: 0 }),
  (message) => setTransactionMessageFeePayerSigner(payer, message),
  (message) => setTransactionMessageLifetimeUsingBlockhash(blockhash, message),
  (message) => appendTransactionMessageInstruction(memo, message),
  signTransactionMessageWithSigners,
);

await sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions })(transaction, { commitment: "confirmed" });
const signature = getSignatureFromTransaction(transaction);
const { value: statuses } = await rpc.getSignatureStatuses([signature]).send();
const again = await rpc
  .sendTransaction(getBase64EncodedWireTransaction(transaction), { encoding: "base64" })
  .send()
  .catch((error) => isSolanaError(error.cause, SOLANA_ERROR__TRANSACTION_ERROR__ALREADY_PROCESSED));
process.stdout.write(JSON.stringify({ signature, status: statuses[0].confirmationStatus, refusedAgain: again }));
