/** @throws with `message` if the promise takes longer than `ms`. */
export async function withDeadline<T>(promise: Promise<T>, ms: number, message: () => string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(message())), ms);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}
