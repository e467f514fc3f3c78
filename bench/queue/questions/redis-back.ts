import { type RedisServer } from "@drover/local-servers";
import { setTimeout as delay } from "node:timers/promises";
import type { ContenderName } from "../contenders/contender.ts";
import { now } from "../../../verification/harness/clock.ts";
import { nextStart } from "../processes/start-bench-process.ts";
import { startTeam, type Team } from "../processes/team.ts";

export interface RedisBackFigures {
  readonly contender: ContenderName;
  /** ms from the first answer of a server that was killed and started again until a run starts, one for each kill. */
  readonly spans: readonly number[];
}

/** ms that the server is away: retries have backed off by then. */
const outage = 3_000;
/** Runs of 20 ms, four at once, so that keys are left due when the server goes away. */
const lasts = 20;
const concurrency = 4;
const backlog = 1_000;

/** SIGKILLs the server while a worker is busy, and starts it again with its data. */
export async function measureRedisBack(
  server: RedisServer,
  contender: ContenderName,
  count: number,
): Promise<RedisBackFigures> {
  await using team = await startTeam(contender, server.url, 1);
  team.restart(backlog);
  const spans: number[] = [];
  for (let i = 0; i < count; i += 1) spans.push(await killAndRestart(server, team));
  return { contender, spans };
}

async function killAndRestart(server: RedisServer, team: Team): Promise<number> {
  const [worker] = team.workers;
  await team.wake(backlog);
  const busy = nextStart(worker);
  await worker.work(concurrency, { kind: "announce", lasts });
  await busy;
  await server.kill();
  await delay(outage);
  const first = nextStart(worker);
  await server.restart();
  const back = now();
  const { at } = await first;
  await worker.stop();
  await team.producer.stop();
  // It may start before we have seen the answer.
  return Math.max(0, at - back);
}
