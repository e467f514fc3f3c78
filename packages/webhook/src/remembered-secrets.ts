import type { Milliseconds } from "@drover/controller";

/** The secrets that are shared with one peer, cached for a short time. */
export interface RememberedSecrets {
  /** The secrets, read at most `longest` ago. */
  now(): Promise<readonly string[]>;
  /** Reads the secrets again after `used` did not fit; undefined if `used` is from the newest reading. */
  newerThan(used: readonly string[]): Promise<readonly string[] | undefined>;
}

/** Minimum time between such readings, so that forged messages, or messages while the secret is missing, cause few. */
const atMostEvery: Milliseconds = 1_000;

/**
 * @param clock monotonic.
 * @param longest how long a secret that was withdrawn is still accepted.
 */
export function rememberSecrets(
  read: () => Promise<readonly string[]>,
  clock: () => Milliseconds,
  longest: Milliseconds,
): RememberedSecrets {
  interface Reading {
    readonly at: Milliseconds;
    readonly secrets: Promise<readonly string[]>;
    goodFor: Milliseconds;
  }
  let last: Reading | undefined;
  let again: Reading | undefined;
  const readNow = (): Reading => {
    const reading: Reading = { at: clock(), secrets: read(), goodFor: longest };
    reading.secrets.catch(() => (reading.goodFor = atMostEvery));
    return (last = reading);
  };
  return {
    now() {
      if (last === undefined || clock() - last.at >= last.goodFor) return readNow().secrets;
      return last.secrets;
    },
    async newerThan(used) {
      if (again === undefined || clock() - again.at >= atMostEvery) again = readNow();
      const newest = await again.secrets;
      return newest === used ? undefined : newest;
    },
  };
}
