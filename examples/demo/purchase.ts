// One purchase of the demo, told in lines: the 402, the payment, the answer, the money before and after. Each line that
// states a fact has checked it; what is not as it should be is printed as WRONG and makes the purchase fail.
import { pay, readReceipt } from "tollgate/testing";
import { formatUnits } from "viem";
import type { Asset } from "./chains.js";
import type { DemoGateway } from "./gateway.js";

export interface Purchase {
  readonly title: string;
  readonly url: string;
  /** Which form of the x402 protocol the buyer speaks. */
  readonly version: 1 | 2;
  readonly asset: Asset;
  /** Atomic units of the asset that the money must move by. */
  readonly price: bigint;
}

/** Hex has two spellings; base58 has one. */
const spelled = (address: string | undefined) => (address?.startsWith("0x") ? address.toLowerCase() : address);

/** Makes one purchase and prints it; false when anything was not as it should be. */
export async function purchase({ title, url, version, asset, price }: Purchase): Promise<boolean> {
  const { check, passed } = createChecks();
  const money = (amount: bigint) => `${formatUnits(amount, asset.decimals)} ${asset.symbol}`;
  const { address, payer, act } = await asset.newBuyer();
  const balances = async () => [await asset.balanceOf(address), await asset.balanceOf(asset.seller)] as const;
  const before = await balances();
  const retryKey = `demo_${crypto.randomUUID()}`;

  console.log(`\n${title}\n  GET ${url}`);
  const unpaid = await fetch(url);
  await unpaid.arrayBuffer();
  check(unpaid.status === 402, `without a payment: 402, got ${unpaid.status}`);

  const { response, challenge, payment } = await pay(url, {}, { payer, version, retryKey });
  const offers = challenge?.accepts ?? [];
  const offer = offers.find((one) => payer.takes(one));
  const asked = BigInt(offer?.amount ?? offer?.maxAmountRequired ?? 0);
  const choice = offers.length > 1 ? ` (one of ${offers.length} offers)` : "";
  console.log(`  402  asks for ${money(asked)} on ${offer?.network}, to be paid to ${offer?.payTo}${choice}`);
  check(asked === price, `the price: ${money(price)}, got ${money(asked)}`);
  check(spelled(offer?.payTo) === spelled(asset.seller), `the seller as payee: ${asset.seller}`);

  const body = await response.text();
  const receipt = readReceipt(response);
  console.log(`  pay  ${address} ${act} and shows it in ${payment?.name}`);
  console.log(`  ${response.status}  ${body.trim()}`);
  console.log(`       transaction ${receipt?.transaction}`);
  check(response.status === 200, `with the payment: 200, got ${response.status}`);
  check(receipt?.success === true && spelled(receipt.payer) === spelled(address), "a receipt that names the payer");

  const after = await balances();
  const fee = receipt?.success ? await asset.feeOf(receipt.transaction) : 0n;
  console.log(
    `       buyer  ${money(before[0])} → ${money(after[0])}${fee > 0n ? `, ${money(fee)} of it network fee` : ""}`,
  );
  console.log(`       seller ${money(before[1])} → ${money(after[1])}`);
  check(before[0] - after[0] === price + fee && after[1] - before[1] === price, "exactly the price has moved");

  const again = await fetch(url, { headers: payment?.headers ?? {} });
  const same = (await again.text()) === body;
  const unmoved = (await balances()).every((balance, index) => balance === after[index]);
  console.log(`  again, the same payment: ${again.status}, the same answer, no second charge`);
  check(again.status === 200 && same && unmoved, "a retry gives the same answer and takes nothing");
  return passed();
}

/** A request that costs nothing. */
export async function visit(title: string, url: string): Promise<boolean> {
  const { check, passed } = createChecks();
  const response = await fetch(url);
  console.log(`\n${title}\n  GET ${url}\n  ${response.status}  ${(await response.text()).trim()}`);
  check(response.status === 200, `open to everyone: 200, got ${response.status}`);
  return passed();
}

/** The gateway has a record of each payment that the seller received through it, and none of them is open. */
export async function checkHistory(
  title: string,
  { url, historyOf }: DemoGateway,
  wallet: string,
  sold: number,
): Promise<boolean> {
  const { check, passed } = createChecks();
  const statuses = await historyOf(wallet);
  console.log(`\n${title}\n  GET ${url}/payment/history/${wallet}`);
  console.log(`       ${statuses.length} payments received: ${[...new Set(statuses)].sort().join(", ")}`);
  check(statuses.length === sold, `one record for each of ${sold} purchases, got ${statuses.length}`);
  check(
    statuses.every((status) => /^(confirmed|finalized)$/.test(status)),
    "each of them confirmed or finalized",
  );
  return passed();
}

function createChecks() {
  let wrong = 0;
  return {
    check(holds: boolean, expectation: string): void {
      if (holds) return;
      wrong += 1;
      console.log(`  WRONG: expected ${expectation}`);
    },
    passed: () => wrong === 0,
  };
}
