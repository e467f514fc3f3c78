import type { RedisServer } from "@drover/local-servers";
import { setTimeout as delay } from "node:timers/promises";
import { againAfter, type ContenderName, type Outcome, outcomes } from "../contenders/contender.ts";
import type { Report } from "../processes/messages.ts";
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
  const team = await startTeam(contender, server.url, 1);
  team.restart(count * outcomes.length);
  try {
    const [worker] = team.workers;
    if (worker === undefined) throw new Error("This question wants a team with a worker.");
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
  } finally {
    await team.kill();
  }
}

interface Story {
  readonly outcome: Outcome;
  /** Of its first run. */
  endedAt: number;
  /** To its second run. */
  span: number;
  runs: number;
}

interface Followed {
  /** In their first run. */
  readonly running: Set<string>;
  /** Between their first run and their second. */
  readonly waiting: Set<string>;
  /** Ends a first run. */
  end(key: string, outcome: Outcome): Promise<void>;
  storiesOf(outcome: Outcome): { spans: number[]; runsPerKey: number };
  /** Resolves with those in their first run. */
  until(condition: () => boolean): Promise<Set<string>>;
}

/** A key's first run is left to the caller; every later one is ended at once, and well. */
function followKeys(worker: BenchProcess): Followed {
  const running = new Set<string>();
  const waiting = new Set<string>();
  const stories = new Map<string, Story>();
  let look = (): void => {};
  const started = ({ key, at }: Extract<Report, { report: "started" }>): void => {
    const story = stories.get(key);
    if (story === undefined) {
      running.add(key);
      return;
    }
    story.runs += 1;
    if (waiting.delete(key)) story.span = at - story.endedAt;
    void worker.finish(key, "done");
  };
  worker.onReport((report) => {
    if (report.report === "started") started(report);
    const story = report.report === "ended" ? stories.get(report.key) : undefined;
    if (report.report === "ended" && story?.endedAt === 0) story.endedAt = report.at;
    look();
  });
  return {
    running,
    waiting,
    async end(key, outcome) {
      running.delete(key);
      waiting.add(key);
      stories.set(key, { outcome, endedAt: 0, span: 0, runs: 1 });
      await worker.finish(key, outcome);
    },
    storiesOf(wanted) {
      const found = [...stories.values()].filter(({ outcome }) => outcome === wanted);
      const runs = found.reduce((sum, story) => sum + story.runs, 0);
      return { spans: found.map(({ span }) => span), runsPerKey: runs / found.length };
    },
    async until(condition) {
      const met = Promise.withResolvers<undefined>();
      look = () => condition() && met.resolve(undefined);
      look();
      const late = setTimeout(
        () => met.reject(new Error("A key that was woken during its run did not run again.")),
        patience,
      );
      await met.promise.finally(() => clearTimeout(late));
      return new Set(running);
    },
  };
}
