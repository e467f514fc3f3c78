import { errorFields, type Log } from "@drover/controller";
import { z } from "zod";

const errorSchema = z.looseObject({ stack: z.string().optional(), message: z.string().optional() });

/** A line of a function's log. The named fields are those of the runtime's own lines. */
const lineSchema = z.looseObject({
  level: z.string(),
  msg: z.string(),
  key: z.string().optional(),
  /** The outcome of a run. */
  verdict: z.string().optional(),
  ms: z.number().optional(),
  /** Why a key ran; empty if only time had passed. */
  why: z.array(z.string()).optional(),
  /** An object that a run has written. */
  wrote: z.string().optional(),
  err: errorSchema.optional(),
});
export type LogLine = z.output<typeof lineSchema>;

/** The message of a process once it runs keys. */
export const takesKeys = "Taking keys";

/** Undefined for a line of any other form. */
export function parseLogLine(text: string): LogLine | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return lineSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** A log whose lines are passed on as those of a function's process are. */
export function logTo(print: (line: LogLine) => void): Log {
  const at =
    (level: string) =>
    (fields: object, msg: string): void => {
      const { err, ...others }: { readonly err?: unknown } = fields;
      print(lineSchema.parse({ ...others, ...(err !== undefined && { err: errorFields(err) }), level, msg }));
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
