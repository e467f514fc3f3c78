import type { Attack } from "../attack.ts";
import { attackedRedis, taken, victimDuring } from "./redis-user.ts";

export const attack: Attack = {
  name: "a function's Redis user cannot run a script of its own, and so none without end",
  kind: "shared fate",
  needs: ["redis"],
  async run({ redis }) {
    await using server = attackedRedis(redis().url);
    await server.shipped("bridge");
    const attacker = await server.attacker("function");
    const endless = "redis.call('DEL', KEYS[1]) while true do end";
    const seen = await victimDuring(server, () => attacker.eval(endless, 1, `{drover:${taken}}:x`));
    return {
      succeeded: seen.victim.includes("BUSY"),
      evidence: `EVAL: ${seen.attack}; another client: ${seen.victim}`,
    };
  },
};
