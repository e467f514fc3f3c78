import { type FunctionSettings, functionSettings } from "@drover/runtime";
import type { z } from "zod";

/** The settings that each function of the process may have for itself. */
const runSettings = functionSettings.pick({
  concurrency: true,
  resyncEvery: true,
  timeout: true,
  retryFirst: true,
  retryLongest: true,
  retryAttempts: true,
  runsPerSecond: true,
  runsBurst: true,
});
type RunSettings = z.output<typeof runSettings>;
const fields: Readonly<Record<string, z.ZodType>> = runSettings.shape;

/** The field of one function's own setting: `jobRetryFirst`, which is read from `DROVER_JOB_RETRY_FIRST`. */
const ownField = (name: string, field: string): string =>
  name + field.charAt(0).toUpperCase() + field.slice(1);

/** The schema with the own settings of functions in addition: `settingsOf` reads them. */
export function withOwnSettings<Schema extends z.ZodObject>(
  schema: Schema,
  names: readonly string[],
): Schema {
  const own = names.flatMap((name) =>
    Object.entries(fields).map(([field, one]) => [ownField(name, field), one] as const),
  );
  const extended: z.ZodObject = schema.extend(Object.fromEntries(own));
  // Only fields were added.
  return extended as Schema;
}

/** The settings of one function: its own where it has some, and those of the process. */
export function settingsOf(
  name: string,
  all: Omit<FunctionSettings, "rests" | "function"> & { readonly functionsIn?: string | undefined },
): FunctionSettings {
  const values: Readonly<Record<string, unknown>> = { ...all };
  const own = Object.keys(fields).flatMap((field) => {
    const value = values[ownField(name, field)];
    return value === undefined ? [] : [[field, value]];
  });
  return {
    ...all,
    // Each value was parsed by the schema of its field.
    ...(Object.fromEntries(own) as RunSettings),
    function:
      all.functionsIn === undefined ? undefined : { namespace: all.functionsIn, name, uid: undefined },
    rests: false,
  };
}
