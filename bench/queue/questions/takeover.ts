import type { RedisServer } from "@drover/local-servers";
import { setTimeout as delay } from "node:timers/promises";
import type { ContenderName } from "../contenders/contender.ts";
import { now } from "../../../verification/harness/clock.ts";
import { withDeadline } from "../measures/deadline.ts";
import type { BenchProcess } from "../processes/start-bench-process.ts";
import { startTeam, type Team } from "../processes/team.ts";

export interface TakeoverFigures {
  readonly contender: ContenderName;
  /** ms from a worker's SIGKILL until the last of its keys runs elsewhere, one for each kill. */
  readonly spans: readonly number[];
}

const keysEach = 4;
/** ms within which the kills come: long enough that a lease is met at every age. */
const kills = 3_000;
/** ms. BullMQ's defaults take a minute. */
const patience = 90_000;

/** Kills worker processes that hold keys, `atOnce` at a time, while another one is idle. */
export async function measureTakeover(
  server: RedisServer,
  contender: ContenderName,
  count: number,
  atOnce: number,
): Promise<TakeoverFigures> {
  const spans: number[] = [];
  while (spans.length < count) {
    const victims = Math.min(atOnce, count - spans.length);
    await using team = await startTeam(contender, server.url, victims + 1);
    team.restart(victims * keysEach);
    spans.push(...(await killAll(team)));
  }
  return { contender, spans };
}

async function killAll(team: Team): Promise<number[]> {
  const [heir, ...victims] = team.workers;
  const holders = held(victims);
  await team.wake(victims.length * keysEach);
  await Promise.all(victims.map((victim) => victim.work(keysEach, { kind: "hold" })));
  const keysOf = await holders;
  const taken = takenOver(heir, victims.length * keysEach);
  await heir.work(victims.length * keysEach, { kind: "announce", lasts: 0 });
  const killed = await Promise.all(
    victims.map(async (victim) => {
      await delay(Math.random() * kills);
      const at = now();
      await victim.kill();
      return { at, keys: keysOf.get(victim) ?? [] };
    }),
  );
  const starts = await taken;
  await Promise.all([heir.stop(), team.producer.stop()]);
  return killed.map(({ at, keys }) => Math.max(...keys.map((key) => (starts.get(key) ?? Infinity) - at)));
}

/** The keys that each victim holds, once they all hold what they can. */
function held(victims: readonly BenchProcess[]): Promise<Map<BenchProcess, string[]>> {
  const keysOf = new Map<BenchProcess, string[]>();
  let count = 0;
  const all = Promise.withResolvers<typeof keysOf>();
  for (const victim of victims) {
    const keys: string[] = [];
    keysOf.set(victim, keys);
    victim.reports.on("started", ({ key }) => {
      keys.push(key);
      if ((count += 1) === victims.length * keysEach) all.resolve(keysOf);
    });
  }
  return all.promise;
}

/** When each key started at the heir. */
function takenOver(heir: BenchProcess, count: number): Promise<Map<string, number>> {
  const starts = new Map<string, number>();
  const all = Promise.withResolvers<typeof starts>();
  heir.reports.on("started", ({ key, at }) => {
    if (!starts.has(key)) starts.set(key, at);
    if (starts.size === count) all.resolve(starts);
  });
  return withDeadline(all.promise, patience, () => `Only ${starts.size} of ${count} keys came.`);
}
