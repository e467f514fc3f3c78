import { Redis } from "ioredis";
import type { Installation } from "../installation.ts";

/** A connection as the Redis user of a function, with what its Pods mount; named so in Redis' list of clients. */
export async function redisAsFunction(
  { kubectl, redis, redisUrlOfAdmin, until }: Installation,
  namespace: string,
  name: string,
): Promise<Redis> {
  const field = (of: string) =>
    until(`${namespace}/${name} has a Redis user`, () =>
      kubectl(["get", "secret", `${name}-redis`, "-n", namespace, "-o", `jsonpath={.data.${of}}`]).then(
        (text) => text !== "" && text,
        () => undefined,
      ),
    ).then((text) => Buffer.from(text, "base64").toString());
  const url = new URL(redisUrlOfAdmin);
  const [username, password] = [await field("username"), await field("password")];
  const connection = new Redis({
    host: url.hostname,
    port: Number(url.port),
    username,
    password,
    connectionName: `${namespace}.${name}`,
  });
  // An attack as another user would prove nothing.
  const clients = String(await connection.ping().then(() => redis.client("LIST")));
  if (!clients.includes(` user=${username} `)) throw new Error(`The login as ${username} was refused.`);
  return connection;
}

/** The command that reads all of a key, by its type. */
const reading: Readonly<Record<string, (key: string) => readonly [string, ...string[]]>> = {
  string: (key) => ["GET", key],
  hash: (key) => ["HGETALL", key],
  list: (key) => ["LRANGE", key, "0", "-1"],
  set: (key) => ["SMEMBERS", key],
  zset: (key) => ["ZRANGE", key, "0", "-1"],
};

/**
 * Everything that a user can read, as one text. The attacker gets the names and types of all keys, which no function's user
 * can list.
 */
export async function allThatReads(user: Redis, admin: Redis): Promise<string> {
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
