import { type Log, messageOf } from "@drover/controller";

/** A resource of a process, which must be closed at the end. */
export interface Closeable {
  readonly name: string;
  close(): Promise<void>;
}

/**
 * A controller that aborts once, when the process is asked to stop (SIGTERM, SIGINT). A second signal ends the process
 * at once, with exit code 1.
 */
export function stopOnSignals(log: Log): AbortController {
  const stop = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(1);
      log.info({ signal: name }, "Stopping: taking no new work, finishing what runs");
      stop.abort();
    });
  }
  return stop;
}

/**
 * Logs uncaught errors like all others, and ends the process with exit code 1, as Node does by default. Node itself
 * would print all fields of an error, including the headers and arguments of requests.
 */
export function logUncaught(log: () => Pick<Log, "error">): void {
  process.on("uncaughtException", (error) => {
    log().error({ err: error }, `Uncaught error: ${messageOf(error)}`);
    process.exit(1);
  });
}

/**
 * Closes in reverse order. If one fails, the others are closed nevertheless.
 * @throws AggregateError with all failures, at the end.
 */
export async function closeAll(log: Log, opened: readonly Closeable[]): Promise<void> {
  const failures: unknown[] = [];
  for (const part of [...opened].reverse()) {
    try {
      await part.close();
    } catch (error) {
      log.error({ err: error, name: part.name }, "Could not close");
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, "The process did not stop cleanly.");
}
