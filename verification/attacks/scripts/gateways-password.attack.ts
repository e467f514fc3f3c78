import { objectKey, queueOf, silentLog } from "@drover/controller";
import { openWorkQueue } from "@drover/queue";
import type { Attack } from "../attack.ts";
import { answerOf, attackedRedis, isDenied } from "./redis-user.ts";

const key = objectKey({ namespace: "tenant", name: "innocent" });
const wake = { key, kind: "k", resourceVersion: "1", reason: "Added", class: "change" } as const;

export const attack: Attack = {
  name: "the gateway's password for Redis does not reach the queue of ReconcileFunctions, which grants permissions",
  kind: "decisions where less trusted parties write",
  needs: ["redis"],
  async run({ redis, log }) {
    await using server = attackedRedis(redis().url);
    const deployer = await server.shipped("deployer", "all");
    const queue = openWorkQueue({
      redis: deployer,
      controller: queueOf({ namespace: "drover", name: "reconcilefunctions.drover.dev", uid: "u1" }),
      log: silentLog,
    });
    await queue.wake([wake]);
    await queue.close();
    const [entry = ""] = await server.admin.keys(`*reconcilefunctions*:key:${key}`);
    log(`the deployer's key: ${entry}`);
    const attacker = await server.attacker("gateway", "all");
    const answers = [
      await answerOf(attacker.hset(entry, "observedIn", "forged", "cachedObject", "{}")),
      await answerOf(attacker.hgetall(entry)),
      await answerOf(attacker.rename(entry, `${entry}-away`)),
      await answerOf(attacker.publish(entry.replace(/:key:.*/, ":worker:any"), "forged")),
    ];
    const forged = await server.admin.hget(entry, "observedIn");
    return {
      succeeded: !answers.every(isDenied) || forged === "forged",
      evidence: answers.join("; "),
    };
  },
};
