import { type ObjectKey, pausedAnnotation, sessionLabel } from "@drover/controller";
import type { ReadableFunction } from "./find-object.ts";
import { shortDuration } from "./short-duration.ts";
import type { ObjectPause } from "./why/all-pauses.ts";

/**
 * The pauses of an object with their authors, and the command that ends each: `it is paused by ann@host for 5m (to
 * resume it: ...)`. Empty if it is not paused.
 *
 * @param now Redis' clock, ms.
 */
export const describePauses = (
  fn: Pick<ReadableFunction, "key" | "spec">,
  key: ObjectKey,
  pauses: readonly ObjectPause[],
  now: number,
): string =>
  pauses
    .map((pause) => {
      if (pause.scope === "session")
        return (
          `the session ${pause.by} of drover dev has reconciled it for ${shortDuration(now - pause.since)} (if that session ` +
          `no longer runs: take the label ${sessionLabel} from it)`
        );
      const by = pause.by === "" ? "" : ` by ${pause.by}`;
      return `${subject(pause, fn.key)} is paused${by} for ${shortDuration(now - pause.since)} (to resume it: ${resumption(fn, key, pause)})`;
    })
    .join("; ");

type RealPause = Exclude<ObjectPause, { readonly scope: "session" }>;

function subject({ scope }: RealPause, fn: string): string {
  switch (scope) {
    case "controller":
      return `all of ${fn}`;
    case "namespace":
      return "its namespace";
    case "annotation":
      return `it has the annotation ${pausedAnnotation}, and`;
    case "object":
      return "it";
  }
}

function resumption(
  fn: Pick<ReadableFunction, "key" | "spec">,
  key: ObjectKey,
  { scope }: RealPause,
): string {
  const [namespace] = key.split("/", 1);
  switch (scope) {
    case "controller":
      return fn.spec.paused === true
        ? `take spec.paused from the ReconcileFunction ${fn.key}`
        : `drover resume ${fn.key} --all`;
    case "namespace":
      return `drover resume ${fn.key} --in ${namespace}`;
    case "object":
      return `drover resume ${fn.key} ${key}`;
    case "annotation":
      return `take the annotation ${pausedAnnotation} from it`;
  }
}
