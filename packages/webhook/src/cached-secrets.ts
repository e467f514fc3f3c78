import type { Milliseconds } from "@drover/controller";

/** The secrets that are shared with one peer, cached for a short time. */
export interface CachedSecrets {
  /** The secrets, read at most `ttl` ago. */
  current(): Promise<readonly string[]>;
  /** Reads the secrets again after `used` did not fit; undefined if `used` is from the newest reading. */
  newerThan(used: readonly string[]): Promise<readonly string[] | undefined>;
}

/** Minimum time between such readings, so that forged messages, or messages while the secret is missing, cause few. */
const minReadInterval: Milliseconds = 1_000;

/**
 * @param clock monotonic.
 * @param ttl how long a secret that was withdrawn is still accepted.
 */
export function cacheSecrets(
  read: () => Promise<readonly string[]>,
  clock: () => Milliseconds,
  ttl: Milliseconds,
): CachedSecrets {
  interface Reading {
    readonly at: Milliseconds;
    readonly secrets: Promise<readonly string[]>;
    goodFor: Milliseconds;
  }
  let last: Reading | undefined;
  let again: Reading | undefined;
  const readNow = (): Reading => {
    const reading: Reading = { at: clock(), secrets: read(), goodFor: ttl };
    reading.secrets.catch(() => (reading.goodFor = minReadInterval));
    return (last = reading);
  };
  return {
    current() {
      if (last === undefined || clock() - last.at >= last.goodFor) return readNow().secrets;
      return last.secrets;
    },
    async newerThan(used) {
      if (again === undefined || clock() - again.at >= minReadInterval) again = readNow();
      const newest = await again.secrets;
      return newest === used ? undefined : newest;
    },
  };
}
