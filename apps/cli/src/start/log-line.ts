import { z } from "zod";

/** What a line of a process's log says, as far as the story needs it. */
const lineSchema = z.looseObject({
  level: z.string(),
  msg: z.string(),
  /** Where the process serves its health. */
  url: z.string().optional(),
  key: z.string().optional(),
  /** In which queue a key was woken. */
  queue: z.string().optional(),
  /** Why a key was woken. */
  reason: z.string().optional(),
  /** How a run of a key ended. */
  verdict: z.string().optional(),
  ms: z.number().optional(),
  /** What a run was woken by; empty when only time had passed. */
  why: z.array(z.string()).optional(),
});
export type LogLine = z.output<typeof lineSchema>;

/** A line of JSON; undefined for anything else that a process prints. */
export function parseLogLine(text: string): LogLine | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const parsed = lineSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
