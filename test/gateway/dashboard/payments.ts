// Payments of an account as the dashboard is to show them: two of a priced route, one of another, one that failed, one that was sent.
import type { Payment } from "../../../src/gateway/payment.js";
import { newPayment, newReceived, recordOf } from "../database/payments-made.js";
import type { GatewayWorld } from "../world.js";

const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";

/** What would be markup, a script or another header, if it were not escaped. */
export const HOSTILE = `</script><script>alert(1)</script>"><img src=x onerror=alert(1)> مرحبا 🦊`;

export async function createPayments({ gateway }: GatewayWorld, account: string): Promise<readonly Payment[]> {
  const { payments } = gateway.database;
  const shop = "https://shop.example";
  const received = { asset: USDC, status: "confirmed" } as const;
  const hash = `0x${Buffer.from(account).toString("hex").padEnd(64, "0").slice(-64)}`;
  const made = [
    newReceived(account, { ...received, amount: 10_000n, resource: `${shop}/report?day=1`, signature: hash }),
    newReceived(account, { ...received, amount: 9_007_199_254_740_993n, resource: `${shop}/report?day=2` }),
    newReceived(account, { ...received, amount: 100_000n, resource: HOSTILE, metadata: { note: HOSTILE } }),
    newReceived(account, { ...received, amount: 7_000_000n, status: "failed", resource: `${shop}/map` }),
    newPayment(account, { asset: USDC, amount: 5_000_000n, status: "confirmed" }),
  ];
  const records: Payment[] = [];
  for (const payment of made) records.push(recordOf(await payments.insert(payment)));
  return records;
}
