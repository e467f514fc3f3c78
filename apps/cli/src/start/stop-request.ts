import { messageOf } from "@drover/controller";

/** Why everything is to be stopped. */
export type StopReason =
  | { readonly kind: "asked" }
  /** Something that the rest stands on is gone. */
  | { readonly kind: "broken"; readonly problem: string };

/** One request to stop, from whoever is first: a person, or a part that broke. */
export interface StopRequest {
  readonly signal: AbortSignal;
  /** Undefined until somebody has asked. */
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

/** Passes a start on; when it fails, everything is to be stopped, and so are the starts beside it. */
export const orStop = <T>(request: StopRequest, start: Promise<T>): Promise<T> =>
  start.catch((error: unknown) => {
    request.stop({ kind: "broken", problem: messageOf(error) });
    throw error;
  });

/**
 * Ctrl-C, SIGTERM, the terminal's end, or nobody reading any more: stop. A second one ends this process at once; what
 * it has started dies with it.
 */
export function stopOnSignals(request: StopRequest): void {
  const asked = (code: number) => (): void => {
    if (request.signal.aborted) process.exit(code);
    request.stop({ kind: "asked" });
  };
  process.on("SIGINT", asked(130)).on("SIGTERM", asked(143)).on("SIGHUP", asked(129));
  process.stdout.on("error", () => request.stop({ kind: "asked" }));
}
