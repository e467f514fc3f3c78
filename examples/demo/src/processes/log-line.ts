import { z } from "zod";

/** The fields of a log line that the demo reports. */
const lineSchema = z.looseObject({
  level: z.string(),
  msg: z.string(),
  /** The URL of the process's health endpoints. */
  url: z.string().optional(),
  key: z.string().optional(),
  /** The queue in which a key was woken. */
  queue: z.string().optional(),
  /** The reason why a key was woken. */
  reason: z.string().optional(),
  /** The outcome of a run. */
  verdict: z.string().optional(),
  ms: z.number().optional(),
  /** The reasons that caused a run; empty if only time had passed. */
  why: z.array(z.string()).optional(),
});
export type LogLine = z.output<typeof lineSchema>;

/** Parses a line of JSON; undefined for any other output of a process. */
export function parseLogLine(text: string): LogLine | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return lineSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
