/**
 * The result of a function that writes a value as JSON, or of `otherwise` for a value that is nested too deep: `JSON.stringify`
 * writes 4,400 levels, and an API server keeps objects of 9,900. One such object must not stop what is done with all others.
 */
export function unlessTooDeep<T>(write: () => T, otherwise: () => T): T {
  try {
    return write();
  } catch (error) {
    if (error instanceof RangeError) return otherwise();
    throw error;
  }
}
