// What two servers' answers about one object come to: the same, not checked by the sandbox for a reason that is on its
// list, or a difference.
import { compareRuns } from "../../packages/sandbox/conformance/compare.ts";
import type { Found } from "../../packages/sandbox/conformance/compare.ts";
import { missingFunction, notChecked } from "../../packages/sandbox/conformance/not-checked.ts";
import type { NotChecked } from "../../packages/sandbox/conformance/not-checked.ts";
import type { Run } from "../../packages/sandbox/conformance/run-case.ts";
import type { Answer } from "../../packages/sandbox/conformance/servers.ts";
import { isObject, listAt, objectAt } from "../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../packages/sandbox/src/json.ts";

export interface Judgement {
  /** How many answers were compared. */
  readonly compared: number;
  /** By the number of the request, from 0 on: where its answers differ. */
  readonly differing: ReadonlyMap<number, readonly Found[]>;
  /** By the number of the request: what of it the sandbox does not check. */
  readonly unchecked: ReadonlyMap<number, NotChecked>;
}

const isFine = ({ code }: Answer): boolean => code >= 200 && code < 300;
const isDryRun = (path: string): boolean => path.includes("dryRun=All");

/** A refusal with these causes only, and without its message, which lists all causes. */
function withCauses(answer: Answer, causes: readonly Json[]): Answer {
  if (!isObject(answer.body)) return answer;
  const details: JsonObject = { ...objectAt(answer.body, "details"), causes };
  return { ...answer, body: { ...answer.body, details, message: "" } };
}
const causesOf = ({ body }: Answer): readonly Json[] => listAt(body, "details", "causes");

/** Compares the answers of two servers about one object, or about the definition of its kind. */
export function judged(real: Run, sandbox: Run): Judgement {
  const unchecked = new Map<number, NotChecked>();
  const pairs: { readonly at: number; readonly real: Answer; readonly sandbox: Answer }[] = [];
  for (const [at, theirs] of real.answers.entries()) {
    const [ours, asked] = [sandbox.answers[at], real.asked[at]];
    if (!ours || !asked) break;
    if (ours.code === 501) {
      unchecked.set(at, missingFunction);
      if (isDryRun(asked.path)) continue;
      break;
    }
    const causes = causesOf(theirs);
    const reasonOf = (cause: Json): NotChecked | undefined => notChecked.find((one) => one.isCause?.(cause));
    const [left, reason] = [
      causes.filter((cause) => !reasonOf(cause)),
      causes.map(reasonOf).find((found) => found !== undefined),
    ];
    if (!reason) pairs.push({ at, real: theirs, sandbox: ours });
    else if (left.length > 0)
      pairs.push({ at, real: withCauses(theirs, left), sandbox: withCauses(ours, causesOf(ours)) });
    else if (!isFine(ours)) pairs.push({ at, real: theirs, sandbox: ours });
    else {
      unchecked.set(at, reason);
      // From here on only one of the two has it.
      if (!isDryRun(asked.path)) break;
    }
  }
  const run = ({ asked }: Run, side: "real" | "sandbox"): Run => ({
    asked: pairs.flatMap(({ at }) => asked[at] ?? []),
    answers: pairs.map((pair) => pair[side]),
  });
  const differing = new Map<number, Found[]>();
  for (const found of compareRuns(run(real, "real"), run(sandbox, "sandbox"))) {
    const at = pairs[found.step - 1]?.at ?? 0;
    differing.set(at, [...(differing.get(at) ?? []), found]);
  }
  return { compared: pairs.length, differing, unchecked };
}
