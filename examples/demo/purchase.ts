// One purchase of the demo, told in lines: the 402, the payment, the answer, the money before and after. Each line that
// states a fact has checked it; what is not as it should be is printed as WRONG and makes the purchase fail.
import { pay, readReceipt, type Sandbox } from "tollgate/testing";
import { formatUnits } from "viem";

export interface Purchase {
  readonly title: string;
  readonly url: string;
  /** Which form of the x402 protocol the buyer speaks. */
  readonly version: 1 | 2;
  /** Atomic units of the token that the money must move by. */
  readonly price: bigint;
}

const sameAddress = (one: string | undefined, other: string) => one?.toLowerCase() === other.toLowerCase();
const usdc = (amount: bigint) => `${formatUnits(amount, 6)} USDC`;

/** Makes one purchase and prints it; false when anything was not as it should be. */
export async function purchase(sandbox: Sandbox, { title, url, version, price }: Purchase): Promise<boolean> {
  const { check, passed } = createChecks();
  const account = await sandbox.newBuyer();
  const balances = async () =>
    [await sandbox.token.balanceOf(account.address), await sandbox.token.balanceOf(sandbox.payTo)] as const;
  const before = await balances();
  const retryKey = `demo_${crypto.randomUUID()}`;

  console.log(`\n${title}\n  GET ${url}`);
  const unpaid = await fetch(url);
  await unpaid.arrayBuffer();
  check(unpaid.status === 402, `without a payment: 402, got ${unpaid.status}`);

  const { response, challenge, payment } = await pay(url, {}, { account, version, retryKey });
  const offer = challenge?.accepts[0];
  const asked = BigInt(offer?.amount ?? offer?.maxAmountRequired ?? 0);
  console.log(`  402  asks for ${usdc(asked)} on ${offer?.network}, to be paid to ${offer?.payTo}`);
  check(asked === price, `the price: ${usdc(price)}, got ${usdc(asked)}`);

  const body = await response.text();
  const receipt = readReceipt(response);
  console.log(`  pay  ${account.address} signs and sends ${payment?.name}`);
  console.log(`  ${response.status}  ${body.trim()}`);
  console.log(`       transaction ${receipt?.transaction}`);
  check(response.status === 200, `with the payment: 200, got ${response.status}`);
  check(receipt?.success === true && sameAddress(receipt.payer, account.address), "a receipt that names the payer");

  const after = await balances();
  console.log(`       buyer  ${usdc(before[0])} → ${usdc(after[0])}`);
  console.log(`       seller ${usdc(before[1])} → ${usdc(after[1])}`);
  check(before[0] - after[0] === price && after[1] - before[1] === price, "exactly the price has moved");

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
