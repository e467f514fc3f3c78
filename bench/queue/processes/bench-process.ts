// A process of the bench: a producer or a worker of one contender. Started by start-bench-process.ts, does what it is
// asked, and ends with the process that started it.
import { objectKey } from "@drover/controller";
import { Session } from "node:inspector/promises";
import type { Contender, Working } from "../contenders/contender.ts";
import { openContender } from "../contenders/open-contender.ts";
import { now } from "../../../verification/harness/clock.ts";
import { type Handlers, handlersFor } from "./handlers.ts";
import { birth, cpuProfile, question, type Report, type Request, type Woken } from "./messages.ts";

const born = birth.parse(JSON.parse(process.argv[2] ?? ""));
const inspector = new Session();
let contender: Contender | undefined;
let working: Working | undefined;
let handlers: Handlers | undefined;
let runs = 0;

const send = (report: Report): void => void process.send?.(report);
const opened = async (): Promise<Contender> => (contender ??= await openContender(born.contender, born));
const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
const keyAt = (i: number) => objectKey({ namespace: `team-${i % 100}`, name: `bucket-${i}` });

process.on("disconnect", () => process.exit());
process.on("message", (message) => {
  const { id, request } = question.parse(message);
  void answer(request).then((answer) => send({ report: "answer", id, ...answer }));
});
send({ report: "ready" });

async function answer(request: Request): Promise<Partial<Extract<Report, { report: "answer" }>>> {
  switch (request.ask) {
    case "wake":
      return { woken: await wake(request) };
    case "work":
      handlers = handlersFor(request.handling, () => void (runs += 1), send);
      working = await (await opened()).work(handlers.handler, request.concurrency);
      return {};
    case "finish":
      handlers?.finish(request.key, request.outcome);
      return {};
    case "mark":
      return { mark: { runs, cpu: cpu(), at: now() } };
    case "profile":
      inspector.connect();
      await inspector.post("Profiler.enable");
      await inspector.post("Profiler.setSamplingInterval", { interval: 200 });
      await inspector.post("Profiler.start");
      return {};
    case "profiled": {
      const { profile } = await inspector.post("Profiler.stop");
      inspector.disconnect();
      return { profile: cpuProfile.parse(profile) };
    }
    case "stop":
      await working?.stop();
      await contender?.close();
      working = contender = undefined;
      return { mark: { runs, cpu: cpu(), at: now() } };
  }
}

async function wake(request: Extract<Request, { ask: "wake" }>): Promise<Woken> {
  const { from, count, distinct, cycle, perCall, lasts = Infinity } = request;
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
}
