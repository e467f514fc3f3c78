import { type Log, type Milliseconds, queueOf } from "@drover/controller";
import { connectRedis, disconnectRedis, openWorkQueue, type Run, type RunOutcome } from "@drover/queue";
import { createWriteStream } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { now } from "../harness/clock.ts";
import type { DirectApi } from "./direct-api.ts";
import type { EventLog } from "../harness/event-log.ts";
import type { Observation } from "./oracle/facts.ts";
import { type Kind, widgetListSchema } from "./kind.ts";

/** A worker whose runs look at their object, straight at the API server, and note what they observed. */
export interface Reader {
  close(): Promise<void>;
}

export async function startReader(options: {
  readonly api: DirectApi;
  readonly kind: Kind;
  readonly log: EventLog<Observation>;
  readonly redisUrl: string;
  readonly controller: string;
  /** How long a run lasts after it has read: what changes meanwhile is for the next run. */
  readonly linger: Milliseconds;
  readonly logFile: string;
}): Promise<Reader> {
  const { api, kind, log, redisUrl: url, controller, linger } = options;
  const { log: fileLog, end } = openFileLog(options.logFile);
  const redis = await connectRedis({ url, clientName: controller, log: fileLog });
  const queue = openWorkQueue({
    redis,
    controller: queueOf({ name: controller }),
    log: fileLog,
    upkeep: "own",
  });
  const look = async ({ key, claim }: Run): Promise<RunOutcome> => {
    const startedAt = now();
    const { read, observed } = await readNow(api, kind, key);
    const { reasons, uid, replaced } = claim;
    log.note({ fact: "ran", key, startedAt, read, observed, reasons, uid, replaced });
    if (linger > 0) await delay(linger);
    return observed === "gone" ? { kind: "gone" } : { kind: "done" };
  };
  const worker = queue.work(look, { concurrency: 4, timeout: 30_000 });
  return {
    async close() {
      await worker.drain(5_000);
      await queue.close();
      await disconnectRedis(redis);
      end();
    },
  };
}

/** A list of one object instead of a GET: a list says as of which version it is true, also that there is none. */
async function readNow(api: DirectApi, kind: Kind, key: string) {
  const [namespace = "", name = ""] = key.split("/");
  const path = `${kind.collectionOf(namespace)}?fieldSelector=metadata.name%3D${name}`;
  const { metadata, items } = widgetListSchema.parse(await api.demand("GET", path));
  const [found] = items;
  return {
    read: metadata.resourceVersion,
    observed:
      found === undefined
        ? ("gone" as const)
        : { uid: found.metadata.uid, version: found.metadata.resourceVersion },
  };
}

function openFileLog(path: string): { log: Log; end: () => void } {
  const file = createWriteStream(path);
  const readable = (_: string, value: unknown): unknown => (value instanceof Error ? value.stack : value);
  const line = (level: string) => (fields: object, message: string) =>
    void file.write(`${JSON.stringify({ level, at: now(), message, ...fields }, readable)}\n`);
  const log = { debug: () => undefined, info: line("info"), warn: line("warn"), error: line("error") };
  return { log, end: () => file.end() };
}
