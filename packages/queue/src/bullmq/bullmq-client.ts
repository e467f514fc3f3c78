import { createIORedisClient, type IRedisClient } from "bullmq";
import { bullmqScripts } from "./bullmq-scripts.ts";
import type { RedisConnection } from "../redis/redis-servers.ts";
import { runScript } from "../redis/lua/lua-script.ts";

/**
 * A connection for BullMQ that runs scripts by `runScript`. ioredis itself would send the text of each script with its
 * first use on every socket (`Script.js`), which takes a permission that functions must not have.
 *
 * Only those of BullMQ's scripts that are in `bullmqScripts` exist; a call of another one rejects. In pipelines and
 * transactions, which BullMQ uses for several jobs at once, no script exists: jobs are added one by one.
 */
export const bullmqClient = (redis: RedisConnection): IRedisClient =>
  withScriptsBySha(createIORedisClient(redis), redis);

/**
 * @param scripted runs the scripts, also those of the connections that BullMQ opens itself: these only wait for jobs.
 */
function withScriptsBySha(client: IRedisClient, scripted: RedisConnection): IRedisClient {
  const own: Partial<IRedisClient> = {
    defineCommand: () => undefined,
    runCommand: (name, args) => runBullmqScript(scripted, name, args),
    duplicate: (...args: unknown[]) => withScriptsBySha(client.duplicate(...args), scripted),
  };
  return new Proxy(client, {
    get: (target, name): unknown => (name in own ? Reflect.get(own, name) : Reflect.get(target, name)),
  });
}

/** @param versioned the script's name, a colon and BullMQ's version. */
async function runBullmqScript(
  redis: RedisConnection,
  versioned: string,
  args: readonly (string | number | Buffer | undefined)[],
): Promise<unknown> {
  const script = bullmqScripts.get(versioned.replace(/:.*/, ""));
  if (script === undefined) throw new Error(`Drover does not load BullMQ's script ${versioned}.`);
  // BullMQ passes undefined for an argument without a value.
  return runScript(
    redis,
    script,
    script.keys,
    args.map((arg) => arg ?? ""),
  );
}
