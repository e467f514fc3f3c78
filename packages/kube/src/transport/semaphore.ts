/** A semaphore. Callers that find no place free wait, first come, first served. */
export interface Semaphore {
  /** Holds a place while `use` runs. @throws the signal's reason if it fires before a place is free. */
  readonly run: <T>(signal: AbortSignal, use: () => Promise<T>) => Promise<T>;
}

export function semaphore(count: number): Semaphore {
  let free = count;
  const waiting = new Set<() => void>();
  const acquire = async (signal: AbortSignal): Promise<void> => {
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
  const release = (): void => {
    const [come] = waiting;
    if (come === undefined) {
      free += 1;
      return;
    }
    waiting.delete(come);
    come();
  };
  return {
    async run(signal, use) {
      signal.throwIfAborted();
      if (free > 0) free -= 1;
      else await acquire(signal);
      try {
        return await use();
      } finally {
        release();
      }
    },
  };
}
