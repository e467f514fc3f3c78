import { createHash } from "node:crypto";
import { type Attack, outcomeOf } from "../attack.ts";
import { attackedRedis, isDenied, taken, trySending } from "./redis-user.ts";

const text = "return redis.call('SET', KEYS[1], 'mine')";
const library =
  "#!lua name=mine\nredis.register_function('mine', function(keys) return redis.call('SET', keys[1], 'mine') end)";

export const attack: Attack = {
  name: "the Redis users of functions, gateway and operators load no scripts and no functions by any command",
  kind: "shared fate",
  needs: ["redis"],
  async run({ redis }) {
    await using server = attackedRedis(redis().url);
    await server.shipped("bridge");
    const key = `{drover:${taken}}:x`;
    const sha = createHash("sha1").update(text).digest("hex");
    const tries = await trySending(server, [
      ["SCRIPT", "LOAD", text],
      ["EVAL", text, "1", key],
      ["EVAL_RO", text, "1", key],
      ["EVALSHA", sha, "1", key],
      ["FUNCTION", "LOAD", "REPLACE", library],
      ["FUNCTION", "RESTORE", "x"],
      ["FCALL", "mine", "1", key],
      ["FCALL_RO", "mine", "1", key],
      ["SCRIPT", "FLUSH"],
      ["MULTI"],
    ]);
    const passed = tries
      .filter(
        ({ command, answer }) => !isDenied(answer) && !(command === "EVALSHA" && answer.includes("NOSCRIPT")),
      )
      .map(({ sent, answer }) => `${sent}: ${answer}`);
    if ((await server.admin.get(key)) !== null) passed.push(`${key} was written`);
    return outcomeOf(passed, "everything was denied, but for EVALSHA of what was not loaded: NOSCRIPT");
  },
};
