import type { EventLog } from "../harness/event-log.ts";
import type { Observation } from "./oracle/facts.ts";
import type { Order } from "./processes/messages.ts";

type WakeOrder = Extract<Order, { order: "wake" }>;
type Wakes = WakeOrder["wakes"];

/**
 * The wakes of each producer that are not acknowledged yet. They stand for a bridge's position: a producer that comes back
 * continues with the unacknowledged ones, and repeats no acknowledged one.
 */
export interface Deliveries {
  /** Has a producer wake these with one call, now or when it is back. Returns the number of the batch. */
  add(producer: string, wakes: Wakes): number;
  acknowledged(batch: number): void;
  isAcknowledged(batch: number): boolean;
  allAcknowledged(): boolean;
  /** Sends everything once more that is not acknowledged. */
  repeat(producer: string): void;
}

/** @param send sends an order to a producer if that is connected. */
export function openDeliveries(
  log: EventLog<Observation>,
  send: (producer: string, order: WakeOrder) => void,
): Deliveries {
  const open = new Map<number, { readonly producer: string; readonly wakes: Wakes }>();
  let batches = 0;
  return {
    add(producer, wakes) {
      const batch = batches++;
      open.set(batch, { producer, wakes });
      const versions = Object.fromEntries(wakes.map(({ key, version }) => [key, version]));
      log.note({ fact: "requested", batch, process: producer, wakes: versions });
      send(producer, { order: "wake", batch, wakes });
      return batch;
    },
    acknowledged: (batch) => void open.delete(batch),
    isAcknowledged: (batch) => !open.has(batch),
    allAcknowledged: () => open.size === 0,
    repeat(producer) {
      for (const [batch, each] of open) {
        if (each.producer === producer) send(producer, { order: "wake", batch, wakes: each.wakes });
      }
    },
  };
}
