// A worker of Drover's queue that does nothing, as controller-runtime's no-op reconciler does: it takes each key, writes
// it to a file with the time, and is done. Takes one argument, JSON.
import type { Log } from "@drover/controller";
import { connectRedis, openWorkQueue } from "@drover/queue";
import { appendFileSync } from "node:fs";
import { z } from "zod";

const {
  url,
  queue: name,
  runs,
  concurrency,
} = z
  .object({ url: z.string(), queue: z.string(), runs: z.string(), concurrency: z.number() })
  .parse(JSON.parse(process.argv[2] ?? ""));

const log: Log = { debug: () => {}, info: () => {}, warn: console.error, error: console.error };
const redis = await connectRedis({ url, clientName: "noop-worker", log });
const queue = openWorkQueue({ redis, controller: name, log, upkeep: "own" });
let lines = "";
const flush = (): void => {
  if (lines === "") return;
  appendFileSync(runs, lines);
  lines = "";
};
setInterval(flush, 50);
const worker = queue.work(
  ({ key }) => {
    lines += `${key} ${process.hrtime.bigint()}\n`;
    return Promise.resolve({ kind: "done" });
  },
  { concurrency, timeout: 60_000 },
);
console.log(JSON.stringify({ event: "working" }));

process.on("SIGTERM", () => {
  void worker.drain(1_000).then(() => {
    flush();
    process.exit();
  });
});
