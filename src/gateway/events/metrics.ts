// Figures of event sockets for Prometheus. Labels are reasons: never an account, an address or a key.
import { Counter, Gauge, type Registry } from "prom-client";
import type { EndName } from "./ends.js";

export interface EventMetrics {
  opened(): void;
  /** `left`: the client has gone by itself, or its connection has. */
  ended(reason: EndName | "left"): void;
  /** An upgrade that was answered with this status. */
  refused(status: number): void;
  told(): void;
}

export function createEventMetrics(registry: Registry): EventMetrics {
  const registers = [registry];
  const open = new Gauge({ name: "tollgate_event_sockets", help: "Event sockets that are open", registers });
  const ended = new Counter({
    name: "tollgate_event_sockets_ended_total",
    help: "Event sockets that have ended, by reason",
    labelNames: ["reason"],
    registers,
  });
  const refused = new Counter({
    name: "tollgate_event_sockets_refused_total",
    help: "Upgrades of /events that were refused, by status",
    labelNames: ["status"],
    registers,
  });
  const told = new Counter({ name: "tollgate_events_told_total", help: "Events told to sockets", registers });
  return {
    opened: () => open.inc(),
    ended(reason) {
      open.dec();
      ended.inc({ reason });
    },
    refused: (status) => refused.inc({ status: String(status) }),
    told: () => told.inc(),
  };
}
