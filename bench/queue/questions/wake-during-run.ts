import type { RedisServer } from "@drover/local-servers";
import { setTimeout as delay } from "node:timers/promises";
import { againAfter, type ContenderName, type Outcome, outcomes } from "../contenders/contender.ts";
import { withDeadline } from "../measures/deadline.ts";
import type { BenchProcess } from "../processes/start-bench-process.ts";
import { startTeam } from "../processes/team.ts";

export interface WakeDuringRunFigures {
  readonly contender: ContenderName;
  /** What the first run came to, with a wake that came while it ran. */
  readonly outcome: Outcome;
  /** ms from the end of that run to the start of the next, one for each key. */
  readonly spans: readonly number[];
  /** Runs per key when all has come to rest; two are enough. */
  readonly runsPerKey: number;
}

const atOnce = 30;
/** ms within which the keys that were woken must have run. */
const patience = 20_000;

/** Keys that are woken while they run, by a run that then succeeds, fails, or asks to be run later (1 s in both). */
export async function measureWakeDuringRun(
  server: RedisServer,
  contender: ContenderName,
  count: number,
): Promise<WakeDuringRunFigures[]> {
  await using team = await startTeam(contender, server.url, 1);
  team.restart(count * outcomes.length);
  const [worker] = team.workers;
  const keys = followKeys(worker);
  await worker.work(atOnce, { kind: "hold" });
  for (const outcome of outcomes) {
    for (let woken = 0; woken < count; woken += atOnce) {
      await team.wake(atOnce);
      const running = await keys.until(() => keys.running.size === atOnce);
      await team.wakeAgain(atOnce);
      await Promise.all([...running].map((key) => keys.end(key, outcome)));
      await keys.until(() => keys.waiting.size === 0);
    }
  }
  await delay(1.5 * againAfter);
  return outcomes.map((outcome) => ({ contender, outcome, ...keys.storiesOf(outcome) }));
}

interface Story {
  readonly outcome: Outcome;
  /** Of its first run. */
  endedAt: number;
  /** To its second run. */
  span: number;
  runs: number;
}

/** A key's first run is left to the caller; every later one is ended at once, and well. */
function followKeys(worker: BenchProcess) {
  /** In their first run. */
  const running = new Set<string>();
  /** Between their first run and their second. */
  const waiting = new Set<string>();
  const stories = new Map<string, Story>();
  let look = (): void => {};
  worker.reports.on("started", ({ key, at }) => {
    const story = stories.get(key);
    if (story === undefined) running.add(key);
    else {
      story.runs += 1;
      if (waiting.delete(key)) story.span = at - story.endedAt;
      void worker.finish(key, "done");
    }
    look();
  });
  worker.reports.on("ended", ({ key, at }) => {
    const story = stories.get(key);
    if (story?.endedAt === 0) story.endedAt = at;
    look();
  });
  return {
    running,
    waiting,
    /** Ends a first run. */
    async end(key: string, outcome: Outcome) {
      running.delete(key);
      waiting.add(key);
      stories.set(key, { outcome, endedAt: 0, span: 0, runs: 1 });
      await worker.finish(key, outcome);
    },
    storiesOf(wanted: Outcome) {
      const found = [...stories.values()].filter(({ outcome }) => outcome === wanted);
      const runs = found.reduce((sum, story) => sum + story.runs, 0);
      return { spans: found.map(({ span }) => span), runsPerKey: runs / found.length };
    },
    /** Resolves with the keys in their first run. */
    async until(condition: () => boolean) {
      const met = Promise.withResolvers<undefined>();
      look = () => condition() && met.resolve(undefined);
      look();
      await withDeadline(
        met.promise,
        patience,
        () => "A key that was woken during its run did not run again.",
      );
      return new Set(running);
    },
  };
}
