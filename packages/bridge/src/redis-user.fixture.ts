import { silentLog } from "@drover/controller";
import type { RedisServer } from "@drover/local-servers";
import { connectRedis, type RedisConnection, type RedisRole, redisUserRules } from "@drover/queue";

/** A connection of the user of a role, whom `admin` makes. */
export async function connectAs(
  role: RedisRole,
  server: RedisServer,
  admin: RedisConnection,
): Promise<RedisConnection> {
  const rules = redisUserRules({ role, controllers: ["a"] });
  await admin.call("ACL", "SETUSER", role, ...rules.split(" "), ">secret");
  const url = server.url.replace("//", `//${role}:secret@`);
  const loadsScripts = rules.includes(" +script|load ");
  return connectRedis({ url, clientName: role, log: silentLog, loadsScripts });
}
