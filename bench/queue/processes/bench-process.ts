// A process of the bench: a producer or a worker of one contender. Started by start-bench-process.ts; it answers the
// calls of the process that started it, and ends with it.
import { objectKey } from "@drover/controller";
import { Session } from "node:inspector/promises";
import type { Contender, Working } from "../contenders/contender.ts";
import { openContender } from "../contenders/open-contender.ts";
import { now } from "../../../verification/harness/clock.ts";
import { finish, handlerFor } from "./handlers.ts";
import type { Birth, Call, Calls, Mark, Report } from "./messages.ts";

// Both processes run the same sources, so messages need no check.
const born = JSON.parse(process.argv[2] ?? "") as Birth;
const inspector = new Session();
let contender: Contender | undefined;
let working: Working | undefined;
let runs = 0;

const send = (...report: Report): void => void process.send?.(report);
const opened = async (): Promise<Contender> => (contender ??= await openContender(born.contender, born));
const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
const mark = (): Promise<Mark> => Promise.resolve({ runs, cpu: cpu(), at: now() });
const keyAt = (i: number) => objectKey({ namespace: `team-${i % 100}`, name: `bucket-${i}` });

const calls: Calls = {
  async wake({ from, count, distinct, cycle, perCall, lasts = Infinity }) {
    const keys = Array.from({ length: count }, (_, i) => keyAt((from + (i % distinct)) % cycle));
    const queue = await opened();
    const before = cpu();
    const began = now();
    let wakes = 0;
    while (wakes < count && now() - began < lasts) {
      const call = keys.slice(wakes, wakes + perCall);
      await queue.wake(call);
      wakes += call.length;
    }
    return { wakes, began, ended: now(), cpu: cpu() - before };
  },
  async work(concurrency, handling) {
    const handler = handlerFor(handling, () => void (runs += 1), send);
    working = await (await opened()).work(handler, concurrency);
  },
  finish(key, outcome) {
    finish(key, outcome);
    return Promise.resolve();
  },
  mark,
  async startProfile() {
    inspector.connect();
    await inspector.post("Profiler.enable");
    await inspector.post("Profiler.setSamplingInterval", { interval: 200 });
    await inspector.post("Profiler.start");
  },
  async stopProfile() {
    const { profile } = await inspector.post("Profiler.stop");
    inspector.disconnect();
    return profile;
  },
  async stop() {
    await working?.stop();
    await contender?.close();
    working = contender = undefined;
    return mark();
  },
};

process.on("disconnect", () => process.exit());
process.on("message", (message) => {
  const { id, name, args } = message as Call;
  const call = calls[name] as (...args: readonly unknown[]) => Promise<unknown>;
  void call(...args).then((value) => send("answer", id, value));
});
send("ready");
