import type { Manifest, User } from "../user.ts";
import type { Divergence } from "./compare.ts";
import type { Plan } from "./plan.ts";
import type { Scenario, Step } from "./scenario.ts";
import type { Found } from "./snapshot.ts";
import { differingPaths, valuesOf } from "./state.ts";
import type { Take } from "./take.ts";

type StrangerPlan = Extract<Plan, { kind: "stranger" }>;

/** Carried by the stranger's object, to find it by. */
const mark = "testing.drover.dev/stranger";

/**
 * The scenario with an object of somebody else's in it: like one that the function makes, but controlled by another
 * object, so that it may be neither changed, nor counted as its own, nor deleted.
 */
export function withStranger(scenario: Scenario, { made, by }: StrangerPlan, like: Found): Scenario {
  const { metadata, ...content } = like.object;
  const name =
    by === "name"
      ? made.name
      : `${like.object.metadata.name}-of-somebody-else`.slice(-63).replace(/^[^a-z0-9]+/, "");
  const { labels = {}, annotations = {} } = metadata;
  const namespace = made.namespace === "" ? {} : { namespace: made.namespace };
  const home = made.namespace === "" ? "default" : made.namespace;
  const step: Step = {
    title: `there is a ${made.kind} ${name} of somebody else's`,
    act: async (user: User) => {
      const owner = await user.apply({ ...ownerKind, metadata: { name: "somebody-else", namespace: home } });
      const { uid } = owner.metadata;
      const ownerReferences =
        made.namespace === "" ? [] : [{ ...ownerKind, name: "somebody-else", uid, controller: true }];
      const theirs = {
        name,
        ...namespace,
        labels,
        annotations: { ...annotations, [mark]: "yes" },
        ownerReferences,
      };
      const object: Manifest = { ...content, status: undefined, metadata: theirs };
      await user.apply(object);
    },
  };
  return { ...scenario, steps: [step, ...scenario.steps] };
}

const ownerKind = { apiVersion: "v1", kind: "ConfigMap" };

/** Undefined where the stranger's object is as it was. */
export function harmDone({ made }: StrangerPlan, { steps }: Take): Divergence | undefined {
  const found = steps[1]?.snapshot?.objects.find((one) => isTheirs(made, one));
  if (found === undefined) return { step: 1, differences: ["it was gone before anybody could look"] };
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

const isTheirs = ({ resource }: { readonly resource: string }, { object, resource: of }: Found): boolean =>
  of === resource && object.metadata.annotations?.[mark] === "yes";
