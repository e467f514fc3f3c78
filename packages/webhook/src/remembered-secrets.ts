import type { Milliseconds } from "@drover/controller";

/** The secrets of one correspondent, as they were a moment ago. */
export interface RememberedSecrets {
  /** At most `longest` old. */
  now(): Promise<readonly string[]>;
  /** Newer ones than these, which did not fit; undefined when they were read again a moment ago. */
  newerThan(used: readonly string[]): Promise<readonly string[] | undefined>;
}

/** Who sends forgeries must not make us ask for each; nor who sends while there is no secret. */
const atMostEvery: Milliseconds = 1_000;

/**
 * @param clock one that never goes back.
 * @param longest how long a secret that was taken back is believed.
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
