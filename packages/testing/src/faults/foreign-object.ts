import type { KubeObject } from "@drover/kube";
import type { Manifest, User } from "../kubectl/user.ts";
import { alteredManifest } from "./altered-manifest.ts";
import { withoutObjects } from "./without-objects.ts";
import type { Baseline } from "./baseline.ts";
import type { Divergence } from "./divergence.ts";
import { divergence, comparisonRulesOf, stateDifferences } from "./compare.ts";
import type { TestPlan } from "./test-plan.ts";
import { callName } from "./test-plan-decider.ts";
import type { Scenario, ScenarioStep } from "./scenario.ts";
import type { FoundObject, ClusterSnapshot } from "./cluster-snapshot.ts";
import { differingPaths, namedObject, clusterStateOf, valuesOf } from "./cluster-state.ts";
import type { ScenarioRun } from "./scenario-run.ts";

export type ForeignObjectPlan = Extract<TestPlan, { kind: "stranger" }>;

/** Carried by the stranger's object, to find it by. */
const foreignObjectAnnotation = "testing.drover.dev/stranger";

/**
 * The scenario with an object of somebody else's in it: of the name, or with the labels, of one that the function makes, but
 * with another content, and controlled by another object: so that it may be neither written, nor counted as its own, nor
 * deleted.
 */
export function withForeignObject(
  scenario: Scenario,
  { made, by }: ForeignObjectPlan,
  like: FoundObject,
): Scenario {
  const { metadata, ...content } = like.object;
  const name =
    by === "name"
      ? made.name
      : `${like.object.metadata.name}-of-somebody-else`.slice(-63).replace(/^[^a-z0-9]+/, "");
  const { labels = {}, annotations = {} } = metadata;
  const namespace = made.namespace === "" ? {} : { namespace: made.namespace };
  const step: ScenarioStep = {
    title: `there is a ${made.kind} ${name} of somebody else's`,
    act: async (user: User) => {
      const ownerKind = made.namespace === "" ? clusterOwner : localOwner;
      const metadata = {
        name: "somebody-else",
        ...namespace,
        annotations: { [foreignObjectAnnotation]: "owner" },
      };
      const owner = await user.apply({ ...ownerKind, metadata });
      const { uid } = owner.metadata;
      const theirs = {
        name,
        ...namespace,
        labels,
        annotations: { ...annotations, [foreignObjectAnnotation]: "yes" },
        ownerReferences: [{ ...ownerKind, name: "somebody-else", uid, controller: true }],
      };
      const object: Manifest = { ...content, status: undefined, metadata: theirs };
      await user.apply(await alteredManifest(user, object));
    },
  };
  return { ...scenario, steps: [step, ...scenario.steps] };
}

const localOwner = { apiVersion: "v1", kind: "ConfigMap" };
const clusterOwner = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" };

/** Undefined where the stranger's object is as it was, was not written to, and was not taken for the function's own. */
export function findHarm(
  plan: ForeignObjectPlan,
  baseline: Baseline,
  scenarioRun: ScenarioRun,
): Divergence | undefined {
  const { made, by } = plan;
  const found = scenarioRun.steps[1]?.snapshot?.objects.find((one) => isForeignObject(made, one));
  if (found === undefined) return { step: 1, differences: ["it was gone before anybody could look"] };
  const rest = withoutObjects(
    scenarioRun,
    (object) => object.metadata.annotations?.[foreignObjectAnnotation] !== undefined,
  );
  const harmed = deletionOf(found, scenarioRun) ?? writesTo(found, scenarioRun, rest);
  if (harmed !== undefined) return harmed;
  const last = scenarioRun.steps.length - 1;
  if (scenarioRun.problem !== undefined || scenarioRun.missing.length > 0)
    return {
      step: last,
      differences: [
        ...(scenarioRun.problem === undefined ? [] : [scenarioRun.problem]),
        ...scenarioRun.missing,
      ],
    };
  return by === "labels" ? otherEnd(plan, baseline, rest) : treatedAsOwn(plan, baseline, rest);
}

function deletionOf({ object: { metadata } }: FoundObject, { steps }: ScenarioRun): Divergence | undefined {
  const step = steps.findIndex(
    ({ snapshot }, i) => i > 1 && snapshot !== undefined && !has(snapshot, metadata.uid),
  );
  if (step < 0) return undefined;
  return { step, differences: [`${metadata.name}, which is somebody else's, was deleted`] };
}

const has = ({ objects }: ClusterSnapshot, uid: string): boolean =>
  objects.some(({ object }) => object.metadata.uid === uid);

/** Also a write that has changed nothing: it would, another time. What people write in the scenario is theirs to write. */
function writesTo(found: FoundObject, { steps }: ScenarioRun, rest: ScenarioRun): Divergence | undefined {
  const { resource, namespace, name } = namedObject(found);
  const index = rest.calls.findIndex(
    ({ call, committed }) =>
      committed === true && call.resource === resource && call.namespace === namespace && call.name === name,
  );
  const entry = rest.calls[index];
  if (entry === undefined) return undefined;
  const after = rest.steps.findIndex(({ calls }) => calls > index);
  const step = after < 0 ? rest.steps.length - 1 : after;
  const now = steps[step]?.snapshot?.objects.find(
    ({ object }) => object.metadata.uid === found.object.metadata.uid,
  );
  const changed =
    now === undefined ? [] : differingPaths(valuesOf(found, new Map()), valuesOf(now, new Map()));
  const foreignName = `${name}, which is somebody else's`;
  return {
    step,
    differences: [
      `${foreignName}, was written to: ${callName(entry.call)}`,
      ...changed.map((path) => `${foreignName}: ${path} was changed`),
    ],
  };
}

/** What else there is must be as it is without the stranger: it has another name. */
function otherEnd(plan: ForeignObjectPlan, baseline: Baseline, rest: ScenarioRun): Divergence | undefined {
  // The stranger's step is the first.
  const without = { ...rest, steps: rest.steps.slice(1) };
  const diverged = divergence(baseline, without, comparisonRulesOf(plan));
  return diverged && { ...diverged, step: diverged.step + 1 };
}

/**
 * Where its name is taken, the function cannot come to the same end: something must say so, be it an error, a condition, an
 * Event, or an object of another name.
 */
function treatedAsOwn(
  { made }: ForeignObjectPlan,
  baseline: Baseline,
  rest: ScenarioRun,
): Divergence | undefined {
  const isMade = ({ kind, metadata }: KubeObject): boolean =>
    kind === made.kind && metadata.name === made.name && (metadata.namespace ?? "") === made.namespace;
  const usual = withoutObjects(baseline.scenarioRun, isMade);
  if (rest.announced.some((one) => !usual.announced.includes(one))) return undefined;
  for (const [step, { snapshot, failing }] of usual.steps.entries()) {
    const now = rest.steps[step + 1];
    const isThere =
      baseline.scenarioRun.steps[step]?.snapshot?.objects.some(({ object }) => isMade(object)) === true;
    if (!isThere || snapshot === undefined || now?.snapshot === undefined) continue;
    const was = clusterStateOf(snapshot, baseline.stableNameOf);
    const is = clusterStateOf(now.snapshot, baseline.stableNameOf);
    const isSaid =
      now.failing.join() !== failing.join() || stateDifferences(baseline, step, { was, is }).length > 0;
    if (isSaid) continue;
    const words = `${made.name}, which is somebody else's, is taken for its own`;
    return { step: step + 1, differences: [`${words}: all is as if it were, and nothing says otherwise`] };
  }
  return undefined;
}

const isForeignObject = (
  { resource }: { readonly resource: string },
  { object, resource: of }: FoundObject,
): boolean => of === resource && object.metadata.annotations?.[foreignObjectAnnotation] === "yes";
