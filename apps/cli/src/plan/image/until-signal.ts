import { constants } from "node:os";

/** Signals that ask the command to end. */
const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const outputs = [process.stdout, process.stderr] as const;

interface Steps<T> {
  /** Awaited also if a signal comes. */
  readonly open: () => Promise<void>;
  /** Not awaited any more if a signal comes: `signal` is aborted then. */
  readonly use: (signal: AbortSignal) => Promise<T>;
  /** Called at the end, however that came about, and before a signal ends the process. Never rejects. */
  readonly close: () => Promise<void>;
}

/**
 * Closes what it has opened, also if the process is asked to end, or if nothing reads its output any more. A second
 * signal ends it at once.
 */
export async function untilSignal<T>({ open, use, close }: Steps<T>): Promise<T> {
  const stopping = new AbortController();
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => undefined);
  let received: NodeJS.Signals | undefined;
  const stop = (name: NodeJS.Signals): void => {
    received = name;
    const reason = new Error(`The command received ${name}.`);
    stopping.abort(reason);
    stopped.reject(reason);
  };
  // Node ignores the signal, and would end the process with this error.
  const stopByPipe = (): void => stop("SIGPIPE");
  for (const name of endings) process.once(name, stop);
  for (const output of outputs) output.on("error", stopByPipe);
  try {
    await open();
    return await Promise.race([stopped.promise, use(stopping.signal)]);
  } finally {
    await close();
    for (const name of endings) process.off(name, stop);
    for (const output of outputs) output.off("error", stopByPipe);
    if (received !== undefined) process.exit(128 + constants.signals[received]);
  }
}
