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
