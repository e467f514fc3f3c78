/** Does a step, and prints how long it took. */
export async function step<T>(what: string, done: () => Promise<T> | T): Promise<T> {
  const from = performance.now();
  const result = await done();
  console.log(`${((performance.now() - from) / 1_000).toFixed(1).padStart(6)} s  ${what}`);
  return result;
}
