import type { RedisServer } from "@drover/local-servers";
import { setTimeout as delay } from "node:timers/promises";
import type { ContenderName } from "../contenders/contender.ts";
import { serverMemory } from "../measures/server-figures.ts";
import type { Team } from "../processes/team.ts";

export interface MemoryFigures {
  readonly contender: ContenderName;
  readonly depth: number;
  readonly round: number;
  readonly bytesPerKey: number;
}

/** ms in which a server notices that its clients have gone. */
const parting = 50;

/**
 * Makes `depth` keys due, and answers what each took of the server's memory. What a queue keeps whatever its length is
 * there before: one key is woken first. No client is connected during the measurement: buffers are not keys.
 */
export async function measureMemory(
  server: RedisServer,
  team: Team,
  depth: number,
  round: number,
): Promise<MemoryFigures> {
  const afterWaking = async (count: number): Promise<number> => {
    await team.wake(count);
    await team.producer.stop();
    await delay(parting);
    return serverMemory(server);
  };
  const before = await afterWaking(1);
  const bytes = (await afterWaking(depth - 1)) - before;
  return { contender: team.name, depth, round, bytesPerKey: bytes / (depth - 1) };
}
