/**
 * The result of a function that writes a value as JSON, or of `otherwise` if the value is nested too deeply:
 * `JSON.stringify` writes 4,400 levels, and an API server stores objects of 9,900. One such object must not stop the
 * processing of all others.
 */
export function unlessTooDeep<T>(write: () => T, otherwise: () => T): T {
  try {
    return write();
  } catch (error) {
    if (error instanceof RangeError) return otherwise();
    throw error;
  }
}
