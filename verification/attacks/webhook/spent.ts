/** The processor time of this thread, in milliseconds, that an action takes. Counted in steps of some milliseconds. */
export async function spent(act: () => Promise<unknown>): Promise<number> {
  const begun = process.threadCpuUsage();
  await act();
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1_000;
}

/** How much more the one costs than the other, where a step of the count makes no difference. */
export const timesAsMuch = (one: number, other: number): number => (one + 10) / (other + 10);
