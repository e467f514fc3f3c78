import { createIORedisClient, type IRedisClient } from "bullmq";
import { bullmqScripts } from "./bullmq-scripts.ts";
import type { RedisConnection } from "./redis-connection.ts";
import { runScript } from "./run-script.ts";

/**
 * A connection as BullMQ uses it, whose scripts run as `runScript` has it. ioredis sends the text of each with its first use
 * on every socket (`Script.js`), which takes a permission that functions must not have.
 *
 * Of BullMQ's scripts there are those of `bullmqScripts`; another one rejects when it is called. None is known to pipelines
 * and transactions, which BullMQ makes for several jobs at once: bells are added one by one.
 */
export const bullmqClient = (redis: RedisConnection): IRedisClient =>
  runningBySha(createIORedisClient(redis), redis);

/** @param scripted runs the scripts, also of connections that BullMQ makes for itself: those only wait for jobs. */
function runningBySha(client: IRedisClient, scripted: RedisConnection): IRedisClient {
  const own: Partial<IRedisClient> = {
    defineCommand: () => undefined,
    runCommand: (name, args) => runBullmqScript(scripted, name, args),
    duplicate: (...args: unknown[]) => runningBySha(client.duplicate(...args), scripted),
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
  // BullMQ leaves out what it has not.
  return runScript(
    redis,
    script,
    script.keys,
    args.map((arg) => arg ?? ""),
  );
}
