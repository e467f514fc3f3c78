import { objectKey, silentLog } from "@drover/controller";
import { openWorkQueue } from "@drover/queue";
import { readFile } from "node:fs/promises";
import { once } from "node:events";
import { type AttackedRedis, taken } from "./redis-user.ts";

/** BullMQ's script that ends a job, as BullMQ ships it. */
export async function moveToFinishedText(): Promise<string> {
  const file = import.meta.resolve("bullmq").replace(/\/dist\/.*/, "/dist/esm/scripts/moveToFinished-14.js");
  const source = await readFile(new URL(file), "utf8");
  return source.slice(source.indexOf("`") + 1, source.lastIndexOf("`;"));
}

/** The SHA-1 under which a shipped function ends BullMQ's jobs: an attacker reads it from the function's own traffic. */
export async function moveToFinishedSha(server: AttackedRedis): Promise<string> {
  const redis = await server.shipped("function");
  const monitor = await server.admin.monitor();
  const seen = Promise.withResolvers<string>();
  monitor.on("monitor", (_time: string, [command = "", sha = "", keys = ""]: readonly string[]) => {
    if (/^evalsha$/i.test(command) && keys === "14") seen.resolve(sha);
  });
  const queue = openWorkQueue({ redis, controller: taken, log: silentLog, upkeep: "own" });
  // Before a worker runs, so that BullMQ delivers it; twice, since the first call may be an EVAL.
  const ended: string[] = [];
  for (const name of ["first", "second"]) {
    const key = objectKey({ namespace: "a", name });
    await queue.wake([{ key, kind: "k", resourceVersion: "1", reason: "Added", class: "change" }]);
  }
  const worker = queue.work(({ key }) => (ended.push(key), Promise.resolve({ kind: "retry", error: "no" })), {
    concurrency: 1,
    timeout: 60_000,
  });
  const sha = await seen.promise;
  monitor.disconnect();
  await once(monitor, "end").catch(() => undefined);
  await worker.drain(0);
  await queue.close();
  return sha;
}

/** A time that asks for 50 million zeros: a server's memory ends before BullMQ's own bound, which the caller chooses. */
export const endOfTime = String(50_000_000 * 60_000);

/** Arguments with which BullMQ's own text pushes zeros into a list without end, all on keys of the function's own. */
export async function endlessMetrics(server: AttackedRedis): Promise<readonly (string | Buffer)[]> {
  const { admin } = server;
  const jobs = `{drover:${taken}}:jobs`;
  const names =
    "wait active prioritized events stalled limiter delayed paused meta pc failed j1 metrics:failed marker";
  const options = { token: "t", keepJobs: { count: 1_000 }, attempts: 1, maxMetricsSize: 1e15 };
  const packed = (await admin.callBuffer(
    "EVAL",
    "return cmsgpack.pack(cjson.decode(ARGV[1]))",
    "0",
    JSON.stringify(options),
  )) as Buffer;
  return [
    ...names.split(" ").map((name) => `${jobs}:${name}`),
    ...["j1", endOfTime, "failedReason", "x", "failed", "0", `${jobs}:`, packed],
  ];
}

/** Writes the keys that these arguments need, with plain commands of the function's own user. */
export async function prepareMetrics(attacker: {
  call(command: string, ...args: string[]): Promise<unknown>;
}): Promise<void> {
  const jobs = `{drover:${taken}}:jobs`;
  await attacker.call("DEL", `${jobs}:active`);
  await attacker.call("LPUSH", `${jobs}:active`, "j1");
  await attacker.call("HSET", `${jobs}:j1`, "data", "{}");
  await attacker.call("SET", `${jobs}:j1:lock`, "t");
  await attacker.call("HSET", `${jobs}:metrics:failed`, "count", "1", "prevTS", "0", "prevCount", "0");
}
