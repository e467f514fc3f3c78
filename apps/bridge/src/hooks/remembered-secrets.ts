import type { Milliseconds } from "@drover/controller";

/** A hook's secrets, as they were a moment ago. */
export interface RememberedSecrets {
  /** At most `longest` old. */
  now(): Promise<readonly string[]>;
  /** Read again, since what there was did not fit; undefined when that was done a moment ago. */
  again(): Promise<readonly string[] | undefined>;
}

/** A secret that was taken back is believed for this long. */
const longest: Milliseconds = 30_000;
/** Who sends forgeries must not make us ask the API server for each. */
const atMostEvery: Milliseconds = 1_000;

/** @param clock one that never goes back. */
export function rememberSecrets(
  read: () => Promise<readonly string[]>,
  clock: () => Milliseconds,
): RememberedSecrets {
  let last:
    { readonly at: Milliseconds; readonly secrets: Promise<readonly string[]>; isGood: boolean } | undefined;
  const isYounger = (age: Milliseconds): boolean => last !== undefined && clock() - last.at < age;
  const readNow = (): Promise<readonly string[]> => {
    const reading = { at: clock(), secrets: read(), isGood: true };
    reading.secrets.catch(() => (reading.isGood = false));
    last = reading;
    return reading.secrets;
  };
  return {
    now: () =>
      last !== undefined && isYounger(last.isGood ? longest : atMostEvery) ? last.secrets : readNow(),
    again: () => (isYounger(atMostEvery) ? Promise.resolve(undefined) : readNow()),
  };
}
