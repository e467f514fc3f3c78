// Changes of the pods of a Job, by users and kubelets.
import {
  disruptionAnnotation,
  exitCodeAnnotation,
  fateAnnotation,
  restartsAnnotation,
} from "@drover/real-cluster";
import type { PseudoRandom } from "@drover/random";
import { field, type Json, type JsonObject } from "../../../packages/sandbox/src/json.ts";
import type { Action, Change } from "../sequences/actions.ts";
import { releasedLabel, uidLabel } from "./job.ts";
import type { Made } from "./made.ts";

const annotated = (annotations: JsonObject): Change => ({ patch: { metadata: { annotations } } });
const fate = (value: Json): Change => annotated({ [fateAnnotation]: value });
const fails = (code: number): Change =>
  annotated({ [fateAnnotation]: "fails", [exitCodeAnnotation]: String(code) });
const disrupted: Change = annotated({ [fateAnnotation]: "fails", [disruptionAnnotation]: "Drained" });
const released: Change = {
  patch: { metadata: { labels: { [uidLabel]: releasedLabel, app: releasedLabel } } },
};

/**
 * Its pods are replaced after a back-off, twice as long each time. One at a time: if the first ended the Job, it would be
 * chance which others are deleted before they fail.
 */
function failure(random: PseudoRandom, made: Made): Action {
  const count = 1;
  made.failures -= count;
  const change = random.oneOf<Change>([
    "delete",
    "delete",
    fails(1),
    fails(3),
    fails(3),
    fails(4),
    disrupted,
    disrupted,
  ]);
  return { do: "pods", of: made.name, count, change, ...(random.chance(0.85) && { active: true }) };
}

const hasSuccessPolicy = ({ object }: Made): boolean => field(object, "spec", "successPolicy") !== undefined;

export function podAction(random: PseudoRandom, made: Made, at: number): Action {
  const all = (count: number, change: Change): Action => ({ do: "pods", of: made.name, count, change });
  const active = (count: number, change: Change): Action => ({
    do: "pods",
    of: made.name,
    count,
    change,
    active: true,
  });
  const draw = random.below(60);
  if (draw < 24 && made.failures > 0) return failure(random, made);
  if (draw < 38) return active(hasSuccessPolicy(made) ? 1 : random.oneOf([1, 1, 2, 9]), fate("succeeds"));
  if (draw < 42) return active(random.oneOf([1, 2]), fate("unready"));
  if (draw < 45) return all(9, fate(null));
  if (draw < 50) return active(1, annotated({ [restartsAnnotation]: String(1 + (at % 3)) }));
  if (draw < 54) return all(random.oneOf([1, 2]), released);
  if (draw < 58) return all(random.oneOf([1, 2]), "hold");
  return all(9, "free");
}
