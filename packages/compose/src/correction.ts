import { type Milliseconds, timestamp } from "@drover/controller";
import type { KubeObject, NewObject } from "@drover/kube";

/** How often in a row, and when last, a child was set back after others had changed it. */
export interface Correction {
  readonly count: number;
  readonly at: Date;
}

/**
 * The annotation of a child with its last correction: `3 2026-01-02T03:04:05Z`. It is written together with the
 * correction, so that it survives the process. Whoever may write the child may change it: that delays a correction by
 * `longestWait` at most, as a real fight would.
 */
export const correctedAnnotation = "drover.dev/corrected";

const firstWait: Milliseconds = 1_000;
const longestWait: Milliseconds = 300_000;
/** After this time without a correction, the next one counts as the first. */
const forgottenAfter: Milliseconds = 2 * longestWait;

/**
 * The last correction of a child; undefined if there was none, or none for a long time.
 *
 * @param remembered by this process: a client that replaces the whole child removes the annotation.
 */
export function lastCorrection(
  { metadata }: KubeObject,
  now: Date,
  remembered?: Correction,
): Correction | undefined {
  const [, count, at] = /^(\d{1,4}) (\S+)$/.exec(metadata.annotations?.[correctedAnnotation] ?? "") ?? [];
  const written = count === undefined ? undefined : { count: Number(count), at: new Date(at ?? "") };
  const last = written ?? remembered;
  const age = now.getTime() - (last?.at.getTime() ?? Number.NaN);
  return age >= 0 && age < forgottenAfter ? last : undefined;
}

/** The time until a child may be set back again: the second correction waits a second, each later one twice as long. */
export function waitUntilCorrection(last: Correction | undefined, now: Date): Milliseconds {
  if (last === undefined) return 0;
  const wait = Math.min(firstWait * 2 ** (last.count - 1), longestWait);
  return Math.max(0, last.at.getTime() + wait - now.getTime());
}

/** One more correction, now. */
export const nextCorrection = (last: Correction | undefined, now: Date): Correction => ({
  count: Math.min((last?.count ?? 0) + 1, 9_999),
  at: new Date(timestamp(now)),
});

/** The object with the annotation of a correction. */
export const withCorrection = (object: NewObject, { count, at }: Correction): NewObject =>
  withAnnotation(object, `${count} ${timestamp(at)}`);

/** The object with the annotation that the child has: it is no difference. */
export function asCorrected(object: NewObject, { metadata }: KubeObject): NewObject {
  const text = metadata.annotations?.[correctedAnnotation];
  return text === undefined ? object : withAnnotation(object, text);
}

const withAnnotation = (object: NewObject, text: string): NewObject => ({
  ...object,
  metadata: {
    ...object.metadata,
    annotations: { ...object.metadata.annotations, [correctedAnnotation]: text },
  },
});
