import { type Log, messageOf } from "@drover/controller";

/** What a process holds open, in the order it was opened. */
export interface Closing {
  readonly name: string;
  close(): Promise<void>;
}

/**
 * A controller that aborts once, when the process is asked to stop (SIGTERM, SIGINT). A second signal ends the process
 * at once, for the impatient.
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
 * Errors that nobody caught end the process, with exit code 1, as they do without this; but they are logged as any other.
 * Node would print all of their fields, with the headers and arguments of requests.
 */
export function logUncaught(log: () => Pick<Log, "error">): void {
  process.on("uncaughtException", (error) => {
    log().error({ err: error }, `Nothing caught an error: ${messageOf(error)}`);
    process.exit(1);
  });
}

/** Close in reverse order. One that fails does not keep the others open; the first failure is thrown at the end. */
export async function closeAll(log: Log, opened: readonly Closing[]): Promise<void> {
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
