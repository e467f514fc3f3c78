import type { TiedProcess } from "@drover/local-servers";

/** A process that can be taken down and brought back. What is asked for happens in the order it was asked. */
export interface Switchable {
  /** The id of the process, while it runs. */
  pid(): number | undefined;
  down(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** Starts it again where it is down. */
  up(): Promise<void>;
  /** Kills it at once, also while it starts, for good. */
  close(): Promise<void>;
}

export function switchable(
  first: TiedProcess,
  start: (signal: AbortSignal) => Promise<TiedProcess>,
): Switchable {
  const closing = new AbortController();
  let running: TiedProcess | undefined;
  const follow = (child: TiedProcess) => {
    running = child;
    void child.exited.then(() => (running = undefined));
  };
  const end = async (signal: NodeJS.Signals) => {
    running?.kill(signal);
    await running?.exited;
  };
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = async (work: () => Promise<void>) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    await turn;
  };

  follow(first);
  return {
    pid: () => running?.pid,
    down: (signal) => inTurn(() => end(signal)),
    up: () =>
      inTurn(async () => {
        closing.signal.throwIfAborted();
        if (running === undefined) follow(await start(closing.signal));
      }),
    async close() {
      closing.abort(new Error("The cluster was stopped: start another one."));
      await end("SIGKILL");
      await inTurn(() => end("SIGKILL"));
    },
  };
}
