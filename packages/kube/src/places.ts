/** A semaphore. Callers that find no place free wait, first come, first served. */
export interface Places {
  /** Holds a place while `use` runs. @throws the signal's reason if it fires before a place is free. */
  readonly taken: <T>(signal: AbortSignal, use: () => Promise<T>) => Promise<T>;
}

export function places(count: number): Places {
  let free = count;
  const waiting = new Set<() => void>();
  const next = async (signal: AbortSignal): Promise<void> => {
    const turn = Promise.withResolvers<undefined>();
    const come = (): void => turn.resolve(undefined);
    const leave = (): void => {
      waiting.delete(come);
      turn.reject(signal.reason);
    };
    waiting.add(come);
    signal.addEventListener("abort", leave);
    try {
      await turn.promise;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  };
  const giveBack = (): void => {
    const [come] = waiting;
    if (come === undefined) {
      free += 1;
      return;
    }
    waiting.delete(come);
    come();
  };
  return {
    async taken(signal, use) {
      signal.throwIfAborted();
      if (free > 0) free -= 1;
      else await next(signal);
      try {
        return await use();
      } finally {
        giveBack();
      }
    },
  };
}
