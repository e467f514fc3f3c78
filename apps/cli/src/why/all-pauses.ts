import { isPausedByAnnotation, pausedAnnotation, sessionLabel, sessionOf } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import type { Pause } from "@drover/queue";
import { z } from "zod";

/** A pause, or a session of `drover dev`, whose name is in `by`. */
export type ObjectPause = Pause | (Omit<Pause, "scope"> & { readonly scope: "session" });

const named = z.looseObject({});
const entrySchema = z.looseObject({
  manager: z.string(),
  time: z.string().optional(),
  fieldsV1: z.looseObject({
    "f:metadata": z.looseObject({ "f:annotations": named.optional(), "f:labels": named.optional() }),
  }),
});

/**
 * The pauses of an object: those recorded in the queue, the annotation with the field manager that wrote it, and the
 * session that reconciles the object. The queue may not have recorded the annotation yet, and records a session like it.
 *
 * @param now for an annotation or a label without a known time, ms.
 */
export function allPauses(
  known: readonly Pause[],
  object: KubeObject | undefined,
  kind: Parameters<typeof isPausedByAnnotation>[0],
  now: number,
): readonly ObjectPause[] {
  if (object === undefined) return known;
  const isPaused = isPausedByAnnotation(kind, object.metadata);
  const session = sessionOf(kind, object.metadata);
  if (!isPaused && session === undefined) return known;
  const { manager = "", time } =
    (isPaused
      ? writerOf(object, "f:annotations", pausedAnnotation)
      : writerOf(object, "f:labels", sessionLabel)) ?? {};
  const recordedPause = known.find(({ scope }) => scope === "annotation");
  const since = Math.min(time === undefined ? (recordedPause?.since ?? now) : Date.parse(time), now);
  return [
    ...known.filter(({ scope }) => scope !== "annotation"),
    isPaused ? { scope: "annotation", since, by: manager } : { scope: "session", since, by: session ?? "" },
  ];
}

/** The field manager that owns the name, and the time of its last write; undefined if managedFields lack it. */
function writerOf(
  { metadata }: KubeObject,
  field: "f:annotations" | "f:labels",
  name: string,
): { readonly manager: string; readonly time?: string | undefined } | undefined {
  const entries = z.array(z.unknown()).safeParse(metadata["managedFields"]).data ?? [];
  return entries
    .flatMap((entry) => entrySchema.safeParse(entry).data ?? [])
    .find(({ fieldsV1 }) => Object.hasOwn(fieldsV1["f:metadata"][field] ?? {}, `f:${name}`));
}

/** A warning about a value of the annotation that does not pause; undefined if there is none. */
export function ignoredPauseWarning(object: KubeObject | undefined): string | undefined {
  const value = object?.metadata.annotations?.[pausedAnnotation];
  if (value === undefined || value === "true") return undefined;
  return `${pausedAnnotation} is ${JSON.stringify(value)}, which pauses nothing: only "true" does`;
}
