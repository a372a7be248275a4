// Figures for Prometheus. Labels are route patterns, statuses and states: never an id, an address or a key.
import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";
import type { Outcome } from "../errors.js";
import type { Payment, PaymentStatus } from "../payment.js";
import type { Endpoint } from "../settings.js";

export interface Metrics {
  answered(endpoint: string, status: number, seconds: number): void;
  /** A payment that was written with a new status. */
  payment(type: Payment["type"], status: PaymentStatus): void;
  /** What the engine said: settlements are counted by how they went. */
  outcome(endpoint: Endpoint, outcome: Outcome<object>): void;
  /** In the text format of Prometheus. */
  text(): Promise<string>;
  readonly contentType: string;
  close(): void;
}

const SECONDS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const requests = new Counter({
    name: "http_requests_total",
    help: "Answers by endpoint and status",
    labelNames: ["endpoint", "status"],
    registers,
  });
  const duration = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time to answer by endpoint",
    labelNames: ["endpoint"],
    buckets: SECONDS,
    registers,
  });
  const payments = new Counter({
    name: "tollgate_payments_total",
    help: "Payments by type, and by the status that they came to through this process",
    labelNames: ["type", "status"],
    registers,
  });
  const settlements = new Counter({
    name: "tollgate_settlements_total",
    help: "Settlements that were asked for, by outcome",
    labelNames: ["outcome"],
    registers,
  });
  return {
    answered(endpoint, status, seconds) {
      requests.inc({ endpoint, status: String(status) });
      duration.observe({ endpoint }, seconds);
    },
    payment: (type, status) => payments.inc({ type, status }),
    outcome(endpoint, outcome) {
      const settles = endpoint === "POST /settle" || endpoint === "POST /payment/receive";
      if (settles) settlements.inc({ outcome: settlementOf(outcome) });
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
    close: () => registry.clear(),
  };
}

const member = (value: object, name: string): unknown => Reflect.get(value, name);

function settlementOf(outcome: Outcome<object>): "settled" | "refused" | "verified" | "pending" {
  if (!outcome.ok) return "refused";
  if (outcome.pending) return "pending";
  if (member(outcome.value, "success") === false) return "refused";
  return member(outcome.value, "paymentId") === null ? "verified" : "settled";
}
