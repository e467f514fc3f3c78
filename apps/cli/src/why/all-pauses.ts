import { isPausedByAnnotation, pausedAnnotation } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import type { Pause } from "@drover/queue";
import { z } from "zod";

const fieldsSchema = z.looseObject({
  "f:metadata": z.looseObject({ "f:annotations": z.looseObject({ [`f:${pausedAnnotation}`]: z.unknown() }) }),
});
const entrySchema = z.looseObject({
  manager: z.string(),
  time: z.string().optional(),
  fieldsV1: fieldsSchema,
});

/**
 * The pauses of an object: those recorded in the queue, and the annotation with the field manager that wrote it. The
 * queue may not have recorded the annotation yet.
 *
 * @param now for an annotation without a known time, ms.
 */
export function allPauses(
  known: readonly Pause[],
  object: KubeObject | undefined,
  kind: Parameters<typeof isPausedByAnnotation>[0],
  now: number,
): readonly Pause[] {
  if (object === undefined || !isPausedByAnnotation(kind, object.metadata)) return known;
  const { manager = "", time } = writerOf(object) ?? {};
  const recordedPause = known.find(({ scope }) => scope === "annotation");
  const since = time === undefined ? (recordedPause?.since ?? now) : Date.parse(time);
  return [
    ...known.filter(({ scope }) => scope !== "annotation"),
    { scope: "annotation", since: Math.min(since, now), by: manager },
  ];
}

/** The field manager that owns the annotation, and the time of its last write; undefined if managedFields lack it. */
function writerOf({
  metadata,
}: KubeObject): { readonly manager: string; readonly time?: string | undefined } | undefined {
  const entries = z.array(z.unknown()).safeParse(metadata["managedFields"]).data ?? [];
  return entries
    .flatMap((entry) => entrySchema.safeParse(entry).data ?? [])
    .find(({ fieldsV1 }) => Object.hasOwn(fieldsV1["f:metadata"]["f:annotations"], `f:${pausedAnnotation}`));
}

/** A warning about a value of the annotation that does not pause; undefined if there is none. */
export function ignoredPauseWarning(object: KubeObject | undefined): string | undefined {
  const value = object?.metadata.annotations?.[pausedAnnotation];
  if (value === undefined || value === "true") return undefined;
  return `${pausedAnnotation} is ${JSON.stringify(value)}, which pauses nothing: only "true" does`;
}
