import type { EventLog } from "../harness/event-log.ts";
import type { Happening } from "./oracle/facts.ts";
import type { Order } from "./processes/messages.ts";

type WakeOrder = Extract<Order, { order: "wake" }>;
type Wakes = WakeOrder["wakes"];

/**
 * What producers have been told to wake and have not had acknowledged. It is what a bridge's position is: one that
 * comes back goes on with what it had not got through, and says nothing twice that was acknowledged.
 */
export interface Deliveries {
  /** Has a producer wake these with one call, now or when it is back. Answers the batch's number. */
  add(producer: string, wakes: Wakes): number;
  acknowledged(batch: number): void;
  isAcknowledged(batch: number): boolean;
  allAcknowledged(): boolean;
  /** Says everything once more that is not acknowledged. */
  repeat(producer: string): void;
}

/** `tell` gives an order to a producer that is there, and does nothing else. */
export function openDeliveries(
  log: EventLog<Happening>,
  tell: (producer: string, order: WakeOrder) => void,
): Deliveries {
  const open = new Map<number, { readonly producer: string; readonly wakes: Wakes }>();
  let batches = 0;
  return {
    add(producer, wakes) {
      const batch = batches++;
      open.set(batch, { producer, wakes });
      const versions = Object.fromEntries(wakes.map(({ key, version }) => [key, version]));
      log.note({ fact: "told", batch, process: producer, wakes: versions });
      tell(producer, { order: "wake", batch, wakes });
      return batch;
    },
    acknowledged: (batch) => void open.delete(batch),
    isAcknowledged: (batch) => !open.has(batch),
    allAcknowledged: () => open.size === 0,
    repeat(producer) {
      for (const [batch, each] of open) {
        if (each.producer === producer) tell(producer, { order: "wake", batch, wakes: each.wakes });
      }
    },
  };
}
