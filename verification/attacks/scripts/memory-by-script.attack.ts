import type { Attack } from "../attack.ts";
import { endlessMetrics, moveToFinishedSha, prepareMetrics } from "./bullmq-script.ts";
import { answerOf, attackedRedis, taken } from "./redis-user.ts";

const maxmemory = 100 * 1_048_576;

export const attack: Attack = {
  name: "no one script of a function's user takes the server's memory far beyond maxmemory",
  kind: "shared fate",
  needs: ["redis"],
  async run({ redis }) {
    await using server = attackedRedis(redis().url);
    await server.shipped("bridge");
    const sha = await moveToFinishedSha(server);
    const attacker = await server.attacker("function");
    const args = await endlessMetrics(server);
    const used = async (): Promise<number> =>
      Number(/^used_memory:(\d+)/m.exec(await server.admin.info("memory"))?.[1]);
    await server.admin.config("SET", "maxmemory", String(maxmemory));
    const fill =
      "local x = string.rep('x', 1048576) for i = 1, 200 do redis.call('SET', KEYS[1] .. i, x) end";
    const own = await answerOf(attacker.eval(fill, 1, `{drover:${taken}}:fill`));
    await prepareMetrics(attacker).catch(() => undefined); // it may be full
    const loaded = own.startsWith("done") ? "not tried" : await answerOf(attacker.evalsha(sha, 14, ...args));
    const bytes = await used();
    return {
      succeeded: bytes > 1.2 * maxmemory,
      evidence: `EVAL: ${own}; EVALSHA: ${loaded}; used ${Math.round(bytes / 1e6)} MB of ${Math.round(maxmemory / 1e6)} MB`,
    };
  },
};
