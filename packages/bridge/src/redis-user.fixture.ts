import { silentLog } from "@drover/controller";
import type { RedisServer } from "@drover/local-servers";
import { connectRedis, type RedisConnection, type RedisRole, redisUserRules } from "@drover/queue";

/** A connection of a Redis user with that role for these queues. `admin` creates the user. */
export async function connectAs(
  role: RedisRole,
  server: RedisServer,
  admin: RedisConnection,
  controllers: "all" | readonly string[] = ["a"],
  name: string = role,
): Promise<RedisConnection> {
  const rules = redisUserRules({ role, controllers });
  await admin.call("ACL", "SETUSER", name, ...rules.split(" "), ">secret");
  const url = server.url.replace("//", `//${name}:secret@`);
  const loadsScripts = rules.includes(" +script|load ");
  return connectRedis({ url, clientName: name, log: silentLog, loadsScripts });
}
