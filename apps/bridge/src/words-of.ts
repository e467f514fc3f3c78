import { messageOf, oneLine } from "@drover/controller";

/** An error's own words, on one line and bounded: they may come from a server that is a tenant's. */
export const wordsOf = (error: unknown): string => oneLine(messageOf(error)).slice(0, 300);
