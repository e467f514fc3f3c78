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

/** The last correction of a child; undefined if there was none, or none for a long time. */
export function lastCorrection({ metadata }: KubeObject, now: Date): Correction | undefined {
  const [, count, at] = /^(\d{1,4}) (\S+)$/.exec(metadata.annotations?.[correctedAnnotation] ?? "") ?? [];
  const age = now.getTime() - Date.parse(at ?? "");
  if (count === undefined || at === undefined || !(age >= 0 && age < forgottenAfter)) return undefined;
  return { count: Number(count), at: new Date(at) };
}

/** The time until a child may be set back again: the second correction waits a second, each later one twice as long. */
export function waitUntilCorrection(last: Correction | undefined, now: Date): Milliseconds {
  if (last === undefined) return 0;
  const wait = Math.min(firstWait * 2 ** (last.count - 1), longestWait);
  return Math.max(0, last.at.getTime() + wait - now.getTime());
}

/** The object with the annotation for one more correction. */
export function withCorrection(object: NewObject, last: Correction | undefined, now: Date): NewObject {
  const text = `${Math.min((last?.count ?? 0) + 1, 9_999)} ${timestamp(now)}`;
  const annotations = { ...object.metadata.annotations, [correctedAnnotation]: text };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
