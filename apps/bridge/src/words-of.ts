/** An error's own words, on one line and bounded: they may come from a server that is a tenant's. */
export const wordsOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/\p{C}+/gu, " ").slice(0, 300);
