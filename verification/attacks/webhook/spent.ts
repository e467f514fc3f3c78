import type { Outcome } from "../attack.ts";

const length = 100_000;

/** Compares the processor time for a duration of 100,000 digits with that for as many letters. */
export async function costOfDigits(send: (duration: string) => Promise<unknown>): Promise<Outcome> {
  await send("1s");
  const harmless = await spent(() => send("x".repeat(length)));
  const digits = await spent(() => send("1".repeat(length)));
  return {
    succeeded: timesAsMuch(digits, harmless) > 10,
    evidence: `${length} digits: ${digits.toFixed(0)} ms of the processor; as many letters: ${harmless.toFixed(0)} ms`,
  };
}

/** The processor time of this thread, in milliseconds, that an action takes. Counted in steps of some milliseconds. */
async function spent(act: () => Promise<unknown>): Promise<number> {
  const begun = process.threadCpuUsage();
  await act();
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1_000;
}

/** How much more the one costs than the other, where a step of the count makes no difference. */
const timesAsMuch = (one: number, other: number): number => (one + 10) / (other + 10);
