import { setTimeout as delay } from "node:timers/promises";
import { now } from "../harness/clock.ts";
import type { Ground } from "./ground.ts";
import { journalOf } from "./loads.ts";
import { changeAll, untilSeen } from "./objects.ts";

/** A function under light load: it gets a change every 300 ms. */
export interface Neighbour {
  /** Stops, and answers how long each change took to its run, ms. */
  close(): Promise<readonly number[]>;
}

/** It counts its changes on from the last one that its object has seen. */
let n = 0;

/** @param name of a function that has a Pod. */
export async function openNeighbour(servers: Ground, name: string): Promise<Neighbour> {
  const change = async (): Promise<void> => changeAll(servers, { namespace: name, objects: 1, n: ++n });
  await change();
  await untilSeen(servers, { namespace: name, n, patience: 60_000 });
  const changed = new Map<number, number>();
  const stopping = new AbortController();
  const changing = (async () => {
    while (!stopping.signal.aborted) {
      changed.set(n + 1, now());
      await change();
      await delay(300);
    }
  })();
  return {
    async close() {
      stopping.abort();
      await changing;
      await untilSeen(servers, { namespace: name, n, patience: 60_000 });
      const runs = await journalOf(servers);
      return [...changed].flatMap(([wanted, at]) => {
        const run = runs.find(
          (line) =>
            line.what === "begins" && line.key.startsWith(`${name}/`) && line.n >= wanted && line.at >= at,
        );
        return run === undefined ? [] : [run.at - at];
      });
    },
  };
}
