import { type Closeable, closeAll } from "../process/process-lifecycle.ts";
import type { ProcessSettings } from "../process/function-settings.ts";
import type { Process } from "../process/run-process.ts";
import { type ReadinessCheck, readinessOf } from "../http/process-server.ts";

/**
 * A part of a process that ends without the others. To the code in it, the part is a process: with its own settings, log
 * and client, with its own end, and with failures that end only the part. Redis, the connections to the API server and
 * the registry of metrics are those of the whole process.
 */
export interface ProcessPart<Settings extends ProcessSettings> {
  readonly process: Process<Settings>;
  /** Resolves when the process is asked to stop. Rejects when the part has failed. */
  readonly ended: Promise<void>;
  /** All readiness checks of the part, as one. */
  readonly isReady: ReadinessCheck;
  /** Asks the part to stop, and closes what it has opened, the latest first. */
  close(): Promise<void>;
}

export function openPart<Settings extends ProcessSettings>(
  whole: Process,
  own: Pick<Process<Settings>, "settings" | "log" | "client">,
): ProcessPart<Settings> {
  const stop = new AbortController();
  const stopping = AbortSignal.any([whole.stopping, stop.signal]);
  const ended = Promise.withResolvers<undefined>();
  ended.promise.catch(() => undefined);
  const end = (): void => ended.resolve(undefined);
  if (stopping.aborted) end();
  stopping.addEventListener("abort", end, { once: true });
  const opened: Closeable[] = [];
  const checks = new Map<string, ReadinessCheck>();
  return {
    process: {
      ...whole,
      ...own,
      stopping,
      readiness: (name, check) => void checks.set(name, check),
      closing: (name, close) => void opened.push({ name, close }),
      fail: ended.reject,
    },
    ended: ended.promise,
    async isReady() {
      const { problems, notes } = await readinessOf(checks);
      const lines = (some: typeof notes): string => some.map(({ part, why }) => `${part}: ${why}`).join("; ");
      if (problems.length > 0) return lines(problems);
      return notes.length > 0 ? { note: lines(notes) } : undefined;
    },
    async close() {
      stop.abort();
      await closeAll(own.log, opened);
    },
  };
}
