import type { z } from "zod";

/** What a text in Redis says; undefined where it is not of the schema, since somebody else wrote it. */
export function parsedJson<T extends z.ZodType>(schema: T, text: string): z.output<T> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return schema.safeParse(value).data;
}
