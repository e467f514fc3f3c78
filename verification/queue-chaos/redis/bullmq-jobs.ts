import { redisRequest } from "@drover/local-servers";
import { z } from "zod";

const script = `
local jobs = { waiting = 0, active = 0, failed = 0 }
local counted = { wait = 'waiting', paused = 'waiting', prioritized = 'waiting', delayed = 'waiting',
  active = 'active', failed = 'failed' }
for _, key in ipairs(redis.call('KEYS', '*:jobs:*')) do
  local state = counted[string.match(key, ':([^:]+)$')]
  local type = redis.call('TYPE', key).ok
  local size = type == 'list' and 'LLEN' or type == 'zset' and 'ZCARD'
  if state and size then jobs[state] = jobs[state] + redis.call(size, key) end
end
return cjson.encode(jobs)`;
const jobs = z.object({ waiting: z.number(), active: z.number(), failed: z.number() });

/** How many BullMQ jobs there are, counted in BullMQ's own lists. Rejects while Redis is away. */
export async function countJobs(port: number): Promise<z.infer<typeof jobs>> {
  return jobs.parse(JSON.parse((await redisRequest(port, ["EVAL", script, "0"])) ?? ""));
}
