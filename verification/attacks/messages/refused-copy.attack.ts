import { Redis } from "ioredis";
import type { Attack } from "../attack.ts";
import { leak, printed } from "./printed.ts";

/** ioredis puts a command's arguments into its errors: of a wake, the object. */
export const attack: Attack = {
  name: "a Redis that refuses a wake does not bring the object into the log",
  kind: "error text carries its input",
  needs: ["redis"],
  async run({ redis }) {
    const { url } = redis();
    const script = `
      import { openLog } from "@drover/runtime";
      import { connectRedis, openWorkQueue } from "@drover/queue";
      import { Redis } from "ioredis";
      const log = openLog({ process: "attacked", level: "debug" });
      const redis = await connectRedis({ url: ${JSON.stringify(url)}, clientName: "attacked", log });
      const queue = openWorkQueue({ redis, controller: "-/attacked/-", log });
      await redis.config("SET", "maxmemory", "1");
      const copy = JSON.stringify({ data: { token: "CANARY" } });
      const wake = { key: "a/b", kind: "k", resourceVersion: "1", reason: "Added", class: "change", copy };
      await queue.wake([wake], { retry: false }).catch((error) => log.warn({ err: error }, error.message));
      await queue.wake([wake], { signal: AbortSignal.timeout(500) }).catch(() => undefined);
      process.exit();`;
    const text = await printed({ script });
    const admin = new Redis(url);
    await admin.config("SET", "maxmemory", "0");
    admin.disconnect();
    if (!text.includes("no memory left")) throw new Error(`Redis did not refuse: ${text}`);
    return {
      succeeded: leak(text) !== undefined,
      evidence: leak(text) ?? "the refusal is logged without arguments",
    };
  },
};
