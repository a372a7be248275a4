// Figures for Prometheus. Labels are route patterns, statuses and states: never an id, an address or a key.
import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";
import { reasonOf } from "../../errors.js";
import type { Fault, Outcome } from "../errors.js";
import { createEventMetrics, type EventMetrics } from "../events/metrics.js";
import type { Payment, PaymentStatus } from "../payment.js";
import type { Endpoint } from "../settings.js";

export interface Metrics {
  answered(endpoint: string, status: number, seconds: number): void;
  /** A payment that was written with a new status. */
  payment(type: Payment["type"], status: PaymentStatus): void;
  /** What the engine said: settlements are counted by how they went. */
  outcome(endpoint: Endpoint, outcome: Outcome<object>): void;
  readonly events: EventMetrics;
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
  const count = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const requests = count("http_requests_total", "Answers by endpoint and status", "endpoint", "status");
  const duration = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time to answer by endpoint",
    labelNames: ["endpoint"],
    buckets: SECONDS,
    registers,
  });
  const payments = count(
    "tollgate_payments_total",
    "Payments by type, and by the status that they came to through this process",
    "type",
    "status",
  );
  const settlements = count("tollgate_settlements_total", "Settlements that were asked for, by outcome", "outcome");
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
    events: createEventMetrics(registry),
    text: () => registry.metrics(),
    contentType: registry.contentType,
    close: () => registry.clear(),
  };
}

const member = (value: object, name: string): unknown => Reflect.get(value, name);

function settlementOf(outcome: Outcome<object>): "settled" | "refused" | "verified" | "pending" {
  if (!outcome.ok) return isUnderWay(outcome) ? "pending" : "refused";
  const { value, pending } = outcome;
  if (member(value, "success") === false) return hasTransactionUnderWay(value) ? "pending" : "refused";
  if (member(value, "paymentId") === null) return "verified";
  return pending ? "pending" : "settled";
}

/** Nobody knows how it went, and the record will tell. */
const isUnderWay = ({ code, paymentId }: Fault): boolean =>
  code === "PAYMENT_VERIFICATION_FAILED" && paymentId !== undefined;

/** As the facilitator API says it. */
const UNDER_WAY: readonly unknown[] = ([1, 2] as const).map((version) => reasonOf("settlement_unknown", version));
const hasTransactionUnderWay = (value: object): boolean =>
  UNDER_WAY.includes(member(value, "errorReason")) && member(value, "transaction") !== "";
