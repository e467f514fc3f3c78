import type { Log } from "@drover/controller";
import { silentLog } from "@drover/controller";
import { UnfitRedisError } from "@drover/queue";
import { withRedis } from "../redis-option.ts";
import type { Finding } from "./finding.ts";

const subject = "Redis";
const settings = "docs/operating-redis.md has the settings, and what each costs.";

/** Checks that Drover can use a Redis, and that this server keeps its data in a crash. */
export async function checkRedis(url: string): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  const warning = (message: string): Finding => ({ level: "warning", subject, message, next: settings });
  const log: Log = { ...silentLog, warn: (_fields, message) => void found.push(warning(message)) };
  try {
    const info = await withRedis(url, (redis) => redis.info(), log);
    found.push(...losses(info).map(warning));
    const version = valueIn(info, "valkey_version") || valueIn(info, "redis_version");
    return found.length > 0 ? found : [{ level: "ok", subject, message: `version ${version}` }];
  } catch (error) {
    if (!(error instanceof UnfitRedisError)) throw error;
    return [...found, { level: "problem", subject, message: error.message, next: settings }];
  }
}

/** After this part of `maxmemory`, writes may soon be refused. */
const nearlyFull = 0.8;

function losses(info: string): readonly string[] {
  const numberIn = (name: string): number => Number(valueIn(info, name));
  const [used, most] = [numberIn("used_memory"), numberIn("maxmemory")];
  return [
    ...(valueIn(info, "aof_enabled") === "1"
      ? []
      : ["It has no append-only file: a crash loses the changes since its last snapshot, or all of them."]),
    ...(valueIn(info, "aof_last_write_status") === "err"
      ? ["Its last write of the append-only file failed. See its log, and the space on its disk."]
      : []),
    ...(most > 0 && used / most > nearlyFull
      ? [
          `It uses ${Math.round((100 * used) / most)} % of its maxmemory. When that is full, it refuses all writes.`,
        ]
      : []),
  ];
}

const valueIn = (info: string, name: string): string =>
  new RegExp(`^${name}:(.*?)\r?$`, "m").exec(info)?.[1] ?? "";
