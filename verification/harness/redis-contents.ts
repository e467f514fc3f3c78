import type { Redis } from "ioredis";

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
