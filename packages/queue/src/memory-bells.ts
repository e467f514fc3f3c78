import type { ObjectKey } from "@drover/controller";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Bell, Bells, Listener } from "./bells.ts";

/** A listener with free hands. */
interface Seat {
  free: number;
  readonly answer: (key: ObjectKey) => Promise<void>;
  readonly running: Set<Promise<void>>;
}

/** Bells within this process: first in, first out, to whichever listener is free. They are gone with the process. */
export function memoryBells(): Bells {
  const waiting = new Map<string, Bell>();
  const seats = new Set<Seat>();
  const handOut = (): void => {
    for (const [name, { key }] of waiting) {
      const seat = [...seats].find(({ free }) => free > 0);
      if (!seat) return;
      waiting.delete(name);
      // Those who have had nothing for longest come first.
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
    tell: () => Promise.resolve(), // there is no dashboard here
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

/** In a turn of its own, as if it had come from elsewhere: runs that never wait must not hold up timers. */
async function answered({ answer }: Seat, key: ObjectKey): Promise<void> {
  await nextTurn();
  // A failed answer is there for dashboards, and there is none here.
  await answer(key).catch(() => undefined);
}
