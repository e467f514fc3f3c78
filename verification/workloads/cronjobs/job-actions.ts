// Changes of the Jobs of a CronJob, by users.
import { fateAnnotation } from "@drover/real-cluster";
import type { PseudoRandom } from "@drover/random";
import type { Json } from "../../../packages/sandbox/src/json.ts";
import type { Action, Change } from "../sequences/actions.ts";

const fate = (value: Json): Change => ({ patch: { metadata: { annotations: { [fateAnnotation]: value } } } });

export function jobAction(random: PseudoRandom, of: string, at: number): Action {
  const draw = random.below(30);
  if (draw < 15) {
    const change = random.oneOf([fate("succeeds"), fate("succeeds"), fate("fails")]);
    return { do: "pods", of, count: random.oneOf([1, 9]), change, active: true };
  }
  const change = random.oneOf<Change>([
    "delete",
    "delete",
    "delete",
    { patch: { spec: { suspend: false } } },
    { patch: { spec: { suspend: true } } },
    { patch: { metadata: { ownerReferences: null } } },
    { patch: { metadata: { labels: { team: `t${at}` } } } },
  ]);
  return { do: "job", of, which: random.oneOf(["newest", "newest", "oldest"]), change };
}
