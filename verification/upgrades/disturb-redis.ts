import { objectKey, silentLog } from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import { connectRedis, disconnectRedis } from "@drover/queue";
import { z } from "zod";
import { redisAddress } from "../chart/process-cluster.ts";

/** Makes the Redis of an installation forget its scripts: it is killed and started again by its node, or only flushed. */
export interface RedisDisturber {
  readonly disturb: (how: "kill" | "flush") => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Connects as the administrator of an installation in the namespace `drover`. */
export async function openRedisDisturber(client: KubeClient): Promise<RedisDisturber> {
  const secret = z
    .looseObject({ data: z.looseObject({ password: z.string() }) })
    .parse(await client.get(builtin.secret, objectKey({ namespace: "drover", name: "admin-redis" })));
  const trusted = z
    .looseObject({ data: z.looseObject({ "ca.crt": z.string() }) })
    .parse(await client.get(builtin.configMap, objectKey({ namespace: "drover", name: "redis-ca" })));
  const redis = await connectRedis({
    url: `rediss://admin@${redisAddress}:6379`,
    password: Buffer.from(secret.data.password, "base64").toString(),
    ca: trusted.data["ca.crt"],
    clientName: "upgrades",
    log: silentLog,
    loadsScripts: false,
  });
  return {
    async disturb(how) {
      if (how === "flush") {
        await redis.script("FLUSH");
        return;
      }
      const [, id = ""] = /^process_id:(\d+)/m.exec(await redis.info("server")) ?? [];
      process.kill(Number(id), "SIGKILL");
    },
    close: () => disconnectRedis(redis),
  };
}
