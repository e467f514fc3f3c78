import { startRedis } from "@drover/local-servers";
import { type ContenderName } from "../contenders/contender.ts";
import { empty } from "../measures/server-figures.ts";
import { measureRedisBack } from "../questions/redis-back.ts";
import { measureTakeover } from "../questions/takeover.ts";
import { measureWakeDuringRun } from "../questions/wake-during-run.ts";
import type { Stage } from "./throughput.ts";

/**
 * What is asked about failures. What waits for minutes, all at once: the figures are seconds, and little is computed.
 * Every such question has a server of its own.
 */
export async function measureRecovery({ server, plan, results, asked, progress }: Stage): Promise<void> {
  if (asked("wake-during-run")) {
    progress("wakes during runs");
    await empty(server);
    for (const name of ["drover", "bullmq-deduplicated"] as const) {
      results.wakeDuringRun.push(...(await measureWakeDuringRun(server, name, plan.wakesDuringRun)));
    }
  }
  progress("workers and servers are killed");
  const takeover = async (name: ContenderName, count: number): Promise<void> => {
    if (!asked("takeover") || count === 0) return;
    const own = await startRedis({ persistence: false });
    results.takeover.push(await measureTakeover(own, name, count, plan.kills.atOnce));
    await own.stop();
  };
  const redisBack = async (name: ContenderName): Promise<void> => {
    if (!asked("redis-back")) return;
    const own = await startRedis({ persistence: true });
    results.redisBack.push(await measureRedisBack(own, name, plan.redisKills));
    await own.stop();
  };
  await Promise.all([
    takeover("drover", plan.kills.drover).then(() => Promise.all([redisBack("drover"), redisBack("bullmq")])),
    takeover("bullmq", plan.kills.bullmq),
  ]);
}
