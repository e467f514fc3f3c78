import { openBareBullmq, openDeduplicatedBullmq } from "./bare-bullmq.ts";
import { openBareRedis } from "./bare-redis.ts";
import type { Contender, ContenderName, Where } from "./contender.ts";
import { openDrover } from "./drover.ts";

export async function openContender(name: ContenderName, where: Where): Promise<Contender> {
  switch (name) {
    case "drover":
      return openDrover(where);
    case "bullmq":
      return openBareBullmq(where);
    case "bullmq-deduplicated":
      return openDeduplicatedBullmq(where);
    case "redis":
      return openBareRedis(where);
  }
}
