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

export type ForeignObjectPlan = Extract<TestPlan, { kind: "foreign object" }>;

/** Marks the foreign object and its owner. */
const foreignObjectAnnotation = "testing.drover.dev/foreign-object";

/**
 * The scenario with a foreign object in it: it has the name, or the labels, of one that the function creates, other content,
 * and another controller. So the function may not write to it, count it as its own, or delete it.
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
      : `${like.object.metadata.name}-of-another-owner`.slice(-63).replace(/^[^a-z0-9]+/, "");
  const { labels = {}, annotations = {} } = metadata;
  const namespace = made.namespace === "" ? {} : { namespace: made.namespace };
  const step: ScenarioStep = {
    title: `a user creates the ${made.kind} ${name}, which another controller owns`,
    act: async (user: User) => {
      const ownerKind = made.namespace === "" ? clusterOwner : localOwner;
      const metadata = {
        name: "another-owner",
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
        ownerReferences: [{ ...ownerKind, name: "another-owner", uid, controller: true }],
      };
      const object: Manifest = { ...content, status: undefined, metadata: theirs };
      await user.apply(await alteredManifest(user, object));
    },
  };
  return { ...scenario, steps: [step, ...scenario.steps] };
}

const localOwner = { apiVersion: "v1", kind: "ConfigMap" };
const clusterOwner = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" };

/** The first harm to the foreign object; undefined if it was not written to, deleted, or treated as the function's own. */
export function findHarm(
  plan: ForeignObjectPlan,
  baseline: Baseline,
  scenarioRun: ScenarioRun,
): Divergence | undefined {
  const { made, by } = plan;
  const found = scenarioRun.steps[1]?.snapshot?.objects.find((one) => isForeignObject(made, one));
  if (found === undefined)
    return { step: 1, differences: ["the object of the other controller does not exist"] };
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

const otherOwner = "belongs to another controller";

function deletionOf({ object: { metadata } }: FoundObject, { steps }: ScenarioRun): Divergence | undefined {
  const step = steps.findIndex(
    ({ snapshot }, i) => i > 1 && snapshot !== undefined && !has(snapshot, metadata.uid),
  );
  if (step < 0) return undefined;
  return { step, differences: [`${metadata.name}, which ${otherOwner}, was deleted`] };
}

const has = ({ objects }: ClusterSnapshot, uid: string): boolean =>
  objects.some(({ object }) => object.metadata.uid === uid);

/** A write that changed nothing counts, too: another time it would change something. Writes of the scenario do not count. */
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
  const foreignName = `${name}, which ${otherOwner}`;
  return {
    step,
    differences: [
      `${foreignName}, was written to: ${callName(entry.call)}`,
      ...changed.map((path) => `${foreignName}: ${path} was changed`),
    ],
  };
}

/** The foreign object has a name of its own, so everything else must be as it is without it. */
function otherEnd(plan: ForeignObjectPlan, baseline: Baseline, rest: ScenarioRun): Divergence | undefined {
  // The first step creates the foreign object.
  const without = { ...rest, steps: rest.steps.slice(1) };
  const diverged = divergence(baseline, without, comparisonRulesOf(plan));
  return diverged && { ...diverged, step: diverged.step + 1 };
}

/**
 * If the name is taken, the function cannot reach the same end. It must report that with an error, a condition, an Event, or
 * an object of another name.
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
    const isReported =
      now.failing.join() !== failing.join() || stateDifferences(baseline, step, { was, is }).length > 0;
    if (isReported) continue;
    const treated = `${made.name}, which ${otherOwner}, is treated as the function's own`;
    return {
      step: step + 1,
      differences: [`${treated}: no error, condition, Event or other object reports that the name is taken`],
    };
  }
  return undefined;
}

const isForeignObject = (
  { resource }: { readonly resource: string },
  { object, resource: of }: FoundObject,
): boolean => of === resource && object.metadata.annotations?.[foreignObjectAnnotation] === "yes";
