import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Attack } from "../attack.ts";
import { attackedRedis, taken, trySending } from "../scripts/redis-user.ts";

const line = "FORGED\n1:M 01 Jan 2030 00:00:00.000 # FORGED";
const lua = `redis.log(redis.LOG_WARNING, ${JSON.stringify(line)})`;

export const attack: Attack = {
  name: "a function's Redis user writes no line into the server's log",
  kind: "text becomes structure",
  needs: ["redis"],
  async run({ redis }) {
    await using server = attackedRedis(redis().url);
    await server.shipped("bridge");
    const [, dir = ""] = await server.admin.config("GET", "dir");
    const key = `{drover:${taken}}:x`;
    const tries = await trySending(server, [
      ["EVAL", lua, "1", key],
      ["EVAL_RO", lua, "1", key],
      ["SCRIPT", "LOAD", lua],
      ["FUNCTION", "LOAD", `#!lua name=forge\n${lua}`],
      ["DEBUG", "LOG", line],
      ["CLIENT", "SETNAME", line],
      ["CLIENT", "SETINFO", "LIB-NAME", line],
      ["AUTH", line, line],
      ["CONFIG", "SET", "logfile", "/tmp/forged"],
      [line, line],
    ]);
    // The control: what may write there does.
    await server.admin.eval('redis.log(redis.LOG_WARNING, "CONTROL")', 0);
    const text = readFileSync(join(dir, "redis.log"), "utf8");
    if (!text.includes("CONTROL")) throw new Error(`The server's log is not in ${dir}.`);
    const isForged = text.includes("FORGED");
    return {
      succeeded: isForged,
      evidence: isForged
        ? tries.map(({ sent, answer }) => `${sent} ${answer}`).join("; ")
        : `nothing in the log of ${tries.length} tries`,
    };
  },
};
