import { messageOf, oneLine } from "@drover/controller";

/** An error's message on one line, at most 300 characters: it may come from a tenant's server. */
export const errorSummary = (error: unknown): string => oneLine(messageOf(error)).slice(0, 300);
