import { silentLog } from "@drover/controller";
import { connectRedis, disconnectRedis } from "@drover/queue";
import type { Redis } from "ioredis";
import { z } from "zod";

/** The command that reads all of a key, by its type. */
const reading: Readonly<Record<string, (key: string) => readonly [string, ...string[]]>> = {
  string: (key) => ["GET", key],
  hash: (key) => ["HGETALL", key],
  list: (key) => ["LRANGE", key, "0", "-1"],
  set: (key) => ["SMEMBERS", key],
  zset: (key) => ["ZRANGE", key, "0", "-1"],
  stream: (key) => ["XRANGE", key, "-", "+"],
};

/**
 * Everything that a user can read, as one text, a line a key. The names and types of all keys come from the administrator: no
 * function's user can list them.
 */
export async function allThatReads(
  user: Pick<Redis, "call">,
  admin: Pick<Redis, "keys" | "type">,
): Promise<string> {
  const names = await admin.keys("*");
  const read = names.map(async (name) => {
    const command = reading[await admin.type(name)]?.(name);
    if (command === undefined) return "";
    return user.call(...command).then(
      (content) => `${name} ${JSON.stringify(content)}`,
      () => "",
    );
  });
  return (await Promise.all(read)).filter((text) => text !== "").join("\n");
}

/** The answer of a Redis server to a command about its users, such as `GETUSER`. */
export async function askAcl(url: string, ...command: readonly string[]): Promise<unknown> {
  const connection = await connectRedis({ url, clientName: "test", log: silentLog });
  try {
    return await connection.call("ACL", [...command]);
  } finally {
    await disconnectRedis(connection);
  }
}

/** The users that a Redis server knows. */
export const redisUsers = async (url: string): Promise<readonly string[]> =>
  z.array(z.string()).parse(await askAcl(url, "USERS"));
