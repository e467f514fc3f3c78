import { setTimeout as delay } from "node:timers/promises";
import type { ContenderName } from "../contenders/contender.ts";
import { nextStart } from "../processes/start-bench-process.ts";
import type { Team } from "../processes/team.ts";

export interface IdleFigures {
  readonly contender: ContenderName;
  readonly depth: number;
  readonly round: number;
  /** ms from the call that wakes to the start of the run, one for each wake. */
  readonly latencies: readonly number[];
}

/** ms until a worker that has ended its run listens again. */
const rest = 4;
const concurrency = 16;
/** Wakes that do not count: Drover settles on a server that was emptied before anything is run. */
const warmUp = 5;

/**
 * One key at a time for an idle worker process. `depth` is the number of due keys of other queues on the same server, which no worker
 * works off: a queue with keys due has no idle worker.
 */
export async function measureIdle(
  team: Team,
  { depth, round, wakes }: { depth: number; round: number; wakes: number },
): Promise<IdleFigures> {
  const [worker] = team.workers;
  await worker.work(concurrency, { kind: "announce", lasts: 0 });
  const latencies: number[] = [];
  for (let i = -warmUp; i < wakes; i += 1) {
    await delay(rest);
    const start = nextStart(worker);
    const { began } = await team.wake(1);
    const { at } = await start;
    if (i >= 0) latencies.push(at - began);
  }
  await worker.stop();
  await team.producer.stop();
  return { contender: team.name, depth, round, latencies };
}
