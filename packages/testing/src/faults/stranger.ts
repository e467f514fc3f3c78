import type { KubeObject } from "@drover/kube";
import type { Manifest, User } from "../user.ts";
import { altered } from "./altered.ts";
import { apart } from "./apart.ts";
import type { Baseline } from "./baseline.ts";
import { type Divergence, divergence, judgementOf, stateDifferences } from "./compare.ts";
import type { Plan } from "./plan.ts";
import { callName } from "./plan-decider.ts";
import type { Scenario, Step } from "./scenario.ts";
import type { Found } from "./snapshot.ts";
import { differingPaths, namedAs, stateOf, valuesOf } from "./state.ts";
import type { Take } from "./take.ts";

export type StrangerPlan = Extract<Plan, { kind: "stranger" }>;

/** Carried by the stranger's object, to find it by. */
const mark = "testing.drover.dev/stranger";

/**
 * The scenario with an object of somebody else's in it: of the name, or with the labels, of one that the function makes, but
 * with another content, and controlled by another object: so that it may be neither written, nor counted as its own, nor
 * deleted.
 */
export function withStranger(scenario: Scenario, { made, by }: StrangerPlan, like: Found): Scenario {
  const { metadata, ...content } = like.object;
  const name =
    by === "name"
      ? made.name
      : `${like.object.metadata.name}-of-somebody-else`.slice(-63).replace(/^[^a-z0-9]+/, "");
  const { labels = {}, annotations = {} } = metadata;
  const namespace = made.namespace === "" ? {} : { namespace: made.namespace };
  const step: Step = {
    title: `there is a ${made.kind} ${name} of somebody else's`,
    act: async (user: User) => {
      const ownerKind = made.namespace === "" ? clusterOwner : localOwner;
      const metadata = { name: "somebody-else", ...namespace, annotations: { [mark]: "owner" } };
      const owner = await user.apply({ ...ownerKind, metadata });
      const { uid } = owner.metadata;
      const theirs = {
        name,
        ...namespace,
        labels,
        annotations: { ...annotations, [mark]: "yes" },
        ownerReferences: [{ ...ownerKind, name: "somebody-else", uid, controller: true }],
      };
      const object: Manifest = { ...content, status: undefined, metadata: theirs };
      await user.apply(await altered(user, object));
    },
  };
  return { ...scenario, steps: [step, ...scenario.steps] };
}

const localOwner = { apiVersion: "v1", kind: "ConfigMap" };
const clusterOwner = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" };

/** Undefined where the stranger's object is as it was, was not written to, and was not taken for the function's own. */
export function harmDone(plan: StrangerPlan, baseline: Baseline, take: Take): Divergence | undefined {
  const { made, by } = plan;
  const found = take.steps[1]?.snapshot?.objects.find((one) => isTheirs(made, one));
  if (found === undefined) return { step: 1, differences: ["it was gone before anybody could look"] };
  const changed = changesOf(found, take);
  if (changed !== undefined) return changed;
  const rest = apart(take, (object) => object.metadata.annotations?.[mark] !== undefined);
  const written = writesTo(found, rest);
  if (written !== undefined) return written;
  const last = take.steps.length - 1;
  if (take.problem !== undefined || take.missing.length > 0)
    return {
      step: last,
      differences: [...(take.problem === undefined ? [] : [take.problem]), ...take.missing],
    };
  return by === "labels" ? otherEnd(plan, baseline, rest) : takenForOwn(plan, baseline, rest);
}

function changesOf(found: Found, { steps }: Take): Divergence | undefined {
  const { name, uid } = found.object.metadata;
  const was = valuesOf(found, new Map());
  for (const [step, { snapshot }] of steps.entries()) {
    if (step < 2 || snapshot === undefined) continue;
    const now = snapshot.objects.find(({ object }) => object.metadata.uid === uid);
    if (now === undefined) return { step, differences: [`${name}, which is somebody else's, was deleted`] };
    const changed = differingPaths(was, valuesOf(now, new Map()));
    const differences = changed.map((path) => `${name}, which is somebody else's: ${path} was changed`);
    if (differences.length > 0) return { step, differences };
  }
  return undefined;
}

/** Also a write that has changed nothing: it would, another time. */
function writesTo(found: Found, rest: Take): Divergence | undefined {
  const { resource, namespace, name } = namedAs(found);
  const index = rest.calls.findIndex(
    ({ call, committed }) =>
      committed === true && call.resource === resource && call.namespace === namespace && call.name === name,
  );
  const entry = rest.calls[index];
  if (entry === undefined) return undefined;
  const step = rest.steps.findIndex(({ calls }) => calls > index);
  const differences = [`${name}, which is somebody else's, was written to: ${callName(entry.call)}`];
  return { step: step < 0 ? rest.steps.length - 1 : step, differences };
}

/** What else there is must be as it is without the stranger: it has another name. */
function otherEnd(plan: StrangerPlan, baseline: Baseline, rest: Take): Divergence | undefined {
  // The stranger's step is the first.
  const without = { ...rest, steps: rest.steps.slice(1) };
  const diverged = divergence(baseline, without, judgementOf(plan));
  return diverged && { ...diverged, step: diverged.step + 1 };
}

/**
 * Where its name is taken, the function cannot come to the same end: something must say so, be it an error, a condition, an
 * Event, or an object of another name.
 */
function takenForOwn({ made }: StrangerPlan, baseline: Baseline, rest: Take): Divergence | undefined {
  const isMade = ({ kind, metadata }: KubeObject): boolean =>
    kind === made.kind && metadata.name === made.name && (metadata.namespace ?? "") === made.namespace;
  const usual = apart(baseline.take, isMade);
  if (rest.announced.some((one) => !usual.announced.includes(one))) return undefined;
  for (const [step, { snapshot, failing }] of usual.steps.entries()) {
    const now = rest.steps[step + 1];
    const isThere =
      baseline.take.steps[step]?.snapshot?.objects.some(({ object }) => isMade(object)) === true;
    if (!isThere || snapshot === undefined || now?.snapshot === undefined) continue;
    const was = stateOf(snapshot, baseline.roleOf);
    const is = stateOf(now.snapshot, baseline.roleOf);
    const isSaid =
      now.failing.join() !== failing.join() || stateDifferences(baseline, step, { was, is }).length > 0;
    if (isSaid) continue;
    const words = `${made.name}, which is somebody else's, is taken for its own`;
    return { step: step + 1, differences: [`${words}: all is as if it were, and nothing says otherwise`] };
  }
  return undefined;
}

const isTheirs = ({ resource }: { readonly resource: string }, { object, resource: of }: Found): boolean =>
  of === resource && object.metadata.annotations?.[mark] === "yes";
