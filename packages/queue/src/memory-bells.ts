import type { ObjectKey } from "@drover/controller";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Bell, Bells, Listener } from "./bells.ts";

/** A listener and its free capacity. */
interface Seat {
  free: number;
  readonly answer: (key: ObjectKey) => Promise<void>;
  readonly running: Set<Promise<void>>;
}

/**
 * A job queue within this process: first in, first out, to any listener with free capacity. The jobs are lost with the
 * process.
 */
export function memoryBells(): Bells {
  const waiting = new Map<string, Bell>();
  const seats = new Set<Seat>();
  const handOut = (): void => {
    for (const [name, { key }] of waiting) {
      const seat = [...seats].find(({ free }) => free > 0);
      if (!seat) return;
      waiting.delete(name);
      // The listener that has waited longest comes first.
      seats.delete(seat);
      seats.add(seat);
      take(seat, key);
    }
  };
  const take = (seat: Seat, key: ObjectKey): void => {
    seat.free--;
    const run = answered(seat, key).finally(() => {
      seat.free++;
      seat.running.delete(run);
      handOut();
    });
    seat.running.add(run);
  };
  return {
    add(bells) {
      for (const bell of bells) waiting.set(nameOf(bell), bell);
      handOut();
      return Promise.resolve();
    },
    tell: () => Promise.resolve(), // only dashboards need it, and this queue has none
    waiting: (bells) => Promise.resolve(bells.filter((bell) => waiting.has(nameOf(bell)))),
    listen(answer, concurrency): Listener {
      const seat: Seat = { free: concurrency, answer, running: new Set() };
      seats.add(seat);
      handOut();
      return {
        async stop() {
          seats.delete(seat);
          await Promise.all(seat.running);
        },
      };
    },
    close() {
      waiting.clear();
      return Promise.resolve();
    },
  };
}

const nameOf = ({ key, number }: Bell): string => `${number} ${key}`;

/** Runs in its own turn of the event loop, like a job from Redis: runs that never wait must not block timers. */
async function answered({ answer }: Seat, key: ObjectKey): Promise<void> {
  await nextTurn();
  // Only dashboards show a failed job, and this queue has none.
  await answer(key).catch(() => undefined);
}
