import type { z } from "zod";

/** Parses a JSON text from Redis; undefined if it does not match the schema: another client wrote it. */
export function parsedJson<T extends z.ZodType>(schema: T, text: string): z.output<T> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return schema.safeParse(value).data;
}
