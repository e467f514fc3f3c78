import { queuePrefix } from "@drover/queue";
import { Redis } from "ioredis";
import { type Attack, outcomeOf } from "../attack.ts";
import { leaks, printed } from "./printed.ts";

/**
 * ioredis puts a command's arguments into its errors: of a wake, the object. Redis refuses for want of memory, and the ledger's
 * script for a schema that the function's own user may write.
 */
export const attack: Attack = {
  name: "when Redis refuses a wake, the object does not appear in the log",
  kind: "error text carries its input",
  needs: ["redis"],
  async run({ redis }) {
    const { url } = redis();
    const script = (refuse: string) => `
      import { openLog } from "@drover/runtime";
      import { connectRedis, openWorkQueue } from "@drover/queue";
      const log = openLog({ process: "attacked", level: "debug" });
      const redis = await connectRedis({ url: ${JSON.stringify(url)}, clientName: "attacked", log });
      const queue = openWorkQueue({ redis, controller: "-/attacked/-", log });
      ${refuse}
      const copy = JSON.stringify({ data: { token: "CANARY" } });
      const wake = { key: "a/b", kind: "k", resourceVersion: "1", reason: "Added", class: "change", copy };
      await queue.wake([wake], { retry: false }).catch((error) => log.warn({ err: error }, error.message));
      await queue.wake([wake], { signal: AbortSignal.timeout(500) }).catch(() => undefined);
      process.exit();`;
    const admin = new Redis(url);
    const schema = `await redis.hset(${JSON.stringify(`${queuePrefix("-/attacked/-")}:control`)}, "schema", "999");`;
    const bySchema = await printed({ script: script(schema) });
    await admin.flushall();
    const byMemory = await printed({ script: script('await redis.config("SET", "maxmemory", "1");') });
    await admin.config("SET", "maxmemory", "0");
    admin.disconnect();
    if (!bySchema.includes("newer version of Drover") || !byMemory.includes("no memory left"))
      throw new Error(`Redis did not refuse: ${bySchema}${byMemory}`);
    return outcomeOf(leaks(bySchema + byMemory), "two refusals are logged without arguments");
  },
};
