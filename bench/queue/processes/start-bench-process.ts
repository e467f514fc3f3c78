import { fork } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { join } from "node:path";
import type { Birth, Call, Calls, Report, Reports, RunEvent } from "./messages.ts";

/** A producer or worker in a process of its own, of one contender. It ends with this process at the latest. */
export interface BenchProcess extends Calls {
  readonly reports: EventEmitter<Reports>;
  /** SIGKILL. Resolves when the process is gone. */
  kill(): Promise<void>;
}

const program = join(import.meta.dirname, "bench-process.ts");

/** @throws if the process ends before it is ready. */
export async function startBenchProcess(birth: Birth): Promise<BenchProcess> {
  const child = fork(program, [JSON.stringify(birth)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const exited = once(child, "exit");
  const reports = new EventEmitter<Reports>();
  child.on("message", (message) => {
    const [name, ...values] = message as Report;
    EventEmitter.prototype.emit.call(reports, name, ...values);
  });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  reports.on("answer", (id, value) => waiting.get(id)?.resolve(value));
  const ready = Promise.withResolvers<undefined>();
  reports.on("ready", () => ready.resolve(undefined));
  void exited.then(() => {
    const gone = new Error(
      `A bench process of ${birth.contender} ended before it answered; see its output above.`,
    );
    for (const { reject } of [ready, ...waiting.values()]) reject(gone);
  });
  await ready.promise;
  let last = 0;
  const call =
    <Name extends keyof Calls>(name: Name) =>
    (...args: readonly unknown[]): ReturnType<Calls[Name]> => {
      const id = (last += 1);
      const answer = Promise.withResolvers<unknown>();
      waiting.set(id, answer);
      child.send({ id, name, args } satisfies Call);
      return answer.promise.finally(() => waiting.delete(id)) as ReturnType<Calls[Name]>;
    };
  return {
    wake: call("wake"),
    work: call("work"),
    finish: call("finish"),
    mark: call("mark"),
    startProfile: call("startProfile"),
    stopProfile: call("stopProfile"),
    stop: call("stop"),
    reports,
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** The start of the worker's next run. */
export const nextStart = ({ reports }: BenchProcess): Promise<RunEvent> =>
  new Promise((resolve) => void reports.once("started", resolve));
