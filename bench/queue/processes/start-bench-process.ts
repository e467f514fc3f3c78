import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import {
  type Birth,
  type CpuProfile,
  type Handling,
  type Mark,
  report,
  type Report,
  type Request,
  type Woken,
} from "./messages.ts";
import type { Outcome } from "../contenders/contender.ts";

export type Wakes = Omit<Extract<Request, { ask: "wake" }>, "ask">;

/** A producer or worker in a process of its own, of one contender. It ends with this process at the latest. */
export interface BenchProcess {
  wake(wakes: Wakes): Promise<Woken>;
  work(concurrency: number, handling: Handling): Promise<void>;
  finish(key: string, outcome: Outcome): Promise<void>;
  mark(): Promise<Mark>;
  /** The CPU profile of what it does until the given promise resolves. */
  profile(during: () => Promise<void>): Promise<CpuProfile>;
  /** Stop working and let go of the server; it may be asked to work again. Answers all its runs so far. */
  stop(): Promise<Mark>;
  /** Called for each report of a run. One listener at a time. */
  onReport(listener: (report: Report) => void): void;
  /** SIGKILL. Resolves when the process is gone. */
  kill(): Promise<void>;
}

const program = join(import.meta.dirname, "bench-process.ts");

type Answer = Extract<Report, { report: "answer" }>;

export async function startBenchProcess(birth: Birth): Promise<BenchProcess> {
  const child = fork(program, [JSON.stringify(birth)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const exited = once(child, "exit");
  const waiting = new Map<number, PromiseWithResolvers<Answer>>();
  let listener: (report: Report) => void = () => {};
  const ready = Promise.withResolvers<undefined>();
  child.on("message", (message) => {
    const received = report.parse(message);
    if (received.report === "ready") ready.resolve(undefined);
    else if (received.report === "answer") waiting.get(received.id)?.resolve(received);
    else listener(received);
  });
  void exited.then(() => {
    const gone = new Error(
      `A bench process of ${birth.contender} ended before it answered; see its output above.`,
    );
    for (const { reject } of [ready, ...waiting.values()]) reject(gone);
  });
  await ready.promise;
  return benchProcess(child, exited, waiting, (wanted) => (listener = wanted));
}

function benchProcess(
  child: ChildProcess,
  exited: Promise<unknown>,
  waiting: Map<number, PromiseWithResolvers<Answer>>,
  onReport: BenchProcess["onReport"],
): BenchProcess {
  let last = 0;
  const ask = async (request: Request): Promise<Answer> => {
    const id = (last += 1);
    const answer = Promise.withResolvers<Answer>();
    waiting.set(id, answer);
    child.send({ id, request });
    return answer.promise.finally(() => waiting.delete(id));
  };
  return {
    wake: async (wakes) => given((await ask({ ask: "wake", ...wakes })).woken),
    async work(concurrency, handling) {
      await ask({ ask: "work", concurrency, handling });
    },
    async finish(key, outcome) {
      await ask({ ask: "finish", key, outcome });
    },
    mark: async () => given((await ask({ ask: "mark" })).mark),
    async profile(during) {
      await ask({ ask: "profile" });
      await during();
      return given((await ask({ ask: "profiled" })).profile);
    },
    stop: async () => given((await ask({ ask: "stop" })).mark),
    onReport,
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

function given<T>(value: T | undefined): T {
  if (value === undefined)
    throw new Error("A bench process answered another question than the one it was asked.");
  return value;
}
