import { redisRequest } from "@drover/local-servers";
import { z } from "zod";

const script = `
local bells = { waiting = 0, active = 0, failed = 0 }
local counted = { wait = 'waiting', paused = 'waiting', prioritized = 'waiting', delayed = 'waiting',
  active = 'active', failed = 'failed' }
for _, key in ipairs(redis.call('KEYS', '*:jobs:*')) do
  local state = counted[string.match(key, ':([^:]+)$')]
  local type = redis.call('TYPE', key).ok
  local size = type == 'list' and 'LLEN' or type == 'zset' and 'ZCARD'
  if state and size then bells[state] = bells[state] + redis.call(size, key) end
end
return cjson.encode(bells)`;
const bells = z.object({ waiting: z.number(), active: z.number(), failed: z.number() });

/** How many BullMQ jobs there are, counted in BullMQ's own lists. Rejects while Redis is away. */
export async function countBells(port: number): Promise<z.infer<typeof bells>> {
  return bells.parse(JSON.parse((await redisRequest(port, ["EVAL", script, "0"])) ?? ""));
}
