import { messageOf } from "@drover/controller";

/** Why everything is stopped. */
export type StopReason =
  | { readonly kind: "asked" }
  /** A server or process that the demo needs is gone. */
  | { readonly kind: "broken"; readonly problem: string };

/** A request to stop, from a user or a broken part. Only the first request counts. */
export interface StopRequest {
  readonly signal: AbortSignal;
  /** Undefined until a stop is requested. */
  reason(): StopReason | undefined;
  stop(reason: StopReason): void;
}

export function stopRequest(): StopRequest {
  const controller = new AbortController();
  let first: StopReason | undefined;
  return {
    signal: controller.signal,
    reason: () => first,
    stop: (reason) => {
      if (first !== undefined) return;
      first = reason;
      controller.abort();
    },
  };
}

/** Returns the result of a start. If the start fails, requests a stop, which also ends the starts in progress. */
export const orStop = <T>(request: StopRequest, start: Promise<T>): Promise<T> =>
  start.catch((error: unknown) => {
    request.stop({ kind: "broken", problem: messageOf(error) });
    throw error;
  });

/**
 * Requests a stop on Ctrl-C, SIGTERM, the end of the terminal, or a closed stdout. A second signal ends this process at
 * once; the processes that it has started end with it.
 */
export function requestStopOnSignals(request: StopRequest): void {
  const asked = (code: number) => (): void => {
    if (request.signal.aborted) process.exit(code);
    request.stop({ kind: "asked" });
  };
  process.on("SIGINT", asked(130)).on("SIGTERM", asked(143)).on("SIGHUP", asked(129));
  process.stdout.on("error", () => request.stop({ kind: "asked" }));
}
