import type { Attack } from "../attack.ts";
import { endlessMetrics, moveToFinishedSha, moveToFinishedText, prepareMetrics } from "./bullmq-script.ts";
import { attackedRedis, victimDuring } from "./redis-user.ts";

export const attack: Attack = {
  name: "a script that is loaded keeps no other client waiting, whatever a function's user calls it with",
  kind: "shared fate",
  needs: ["redis"],
  async run({ redis }) {
    await using server = attackedRedis(redis().url);
    await server.shipped("bridge");
    const sha = await moveToFinishedSha(server);
    const attacker = await server.attacker("function");
    const args = await endlessMetrics(server);
    await prepareMetrics(attacker);
    const seen = await victimDuring(server, async () => {
      const text = await moveToFinishedText();
      // Its own text, if it may; else the one that is loaded.
      return attacker.eval(text, 14, ...args).catch(() => attacker.evalsha(sha, 14, ...args));
    });
    return {
      succeeded: seen.victim.includes("BUSY"),
      evidence: `metrics without end: ${seen.attack}; another client: ${seen.victim}`,
    };
  },
};
