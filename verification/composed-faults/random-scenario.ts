import { composeController } from "@drover/compose";
import {
  type Child,
  type ChildObject,
  childObjectSchema,
  defineResource,
  settledChildSchema,
} from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import { pseudoRandom, type PseudoRandom } from "@drover/random";
import { faultScenario, type Scenario, type User } from "@drover/testing";
import { z } from "zod";

/** A kind that lists its children: what they are is decided by the scenario. */
export const ChildSet = defineResource({
  group: "example.com",
  version: "v1",
  kind: "ChildSet",
  scope: "Namespaced",
  spec: z.object({ children: z.string(), theme: z.string() }),
  status: z.object({ theme: z.string().optional() }),
});

/** Declares the children of the spec, and the data of a ConfigMap that the object references. */
const sets = (copies: boolean) =>
  composeController({
    for: ChildSet,
    copies,
    owns: [builtin.configMap, builtin.secret, builtin.service].map((ref) => ({
      kind: kindOf(ref),
      acrossNamespaces: true,
      copies: copies && ref !== builtin.secret,
    })),
    related: [{ kind: kindOf(builtin.configMap), names: { referencedBy: "spec.theme" } }],
    retry: { first: "1s", longest: "5m" },
    compose({ spec, related }) {
      const theme = JSON.stringify(related.get(builtin.configMap, spec.theme)?.["data"] ?? {});
      const themed = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "themed" }, data: { theme } };
      return {
        children: [
          themed,
          ...z.array(z.union([settledChildSchema, childObjectSchema])).parse(JSON.parse(spec.children)),
        ],
        status: { theme },
      };
    },
  });

const set = (children: readonly Child[]) => ({
  apiVersion: "example.com/v1",
  kind: "ChildSet",
  metadata: { name: "a" },
  spec: { children: JSON.stringify(children), theme: "theme" },
});
const kinds = {
  ConfigMap: { apiVersion: "v1", kind: "ConfigMap" },
  Secret: { apiVersion: "v1", kind: "Secret" },
  Service: { apiVersion: "v1", kind: "Service" },
};
type KindName = keyof typeof kinds;
const names = ["one", "two", "three", "four"];

/** True: children may be in another namespace than their parent. */
interface Rules {
  readonly elsewhere: boolean;
}

function randomObject(random: PseudoRandom, name: string, { elsewhere }: Rules): ChildObject {
  const kind = random.oneOf<KindName>(["ConfigMap", "ConfigMap", "Secret", "Service"]);
  const namespace = elsewhere && random.chance(0.4) ? { namespace: "kube-public" } : {};
  const labels = random.chance(0.3) ? { labels: { tier: random.oneOf(["web", "data"]) } } : {};
  return { ...kinds[kind], metadata: { name, ...namespace, ...labels }, ...contentOf(random, kind) };
}

function randomChild(random: PseudoRandom, name: string, rules: Rules): Child {
  const object = randomObject(random, name, rules);
  if (random.chance(0.3)) return object;
  return { object, wave: random.between(-1, 2), update: random.oneOf(["Apply", "Recreate", "Rolling"]) };
}

function contentOf(random: PseudoRandom, kind: KindName): object {
  const value = () => `v${random.below(4)}`;
  const data = Object.fromEntries(
    random.some(["a", "b", "c"], random.between(1, 3)).map((key) => [key, value()]),
  );
  if (kind === "ConfigMap") return { data };
  if (kind === "Secret") return random.chance(0.5) ? { stringData: data } : { data: { a: "djE=" } };
  const ports = random
    .some([80, 443, 8080], random.between(1, 2))
    .map((port) => ({ name: `p${port}`, port, protocol: "TCP", targetPort: port }));
  return { spec: { selector: { app: value() }, ports } };
}

/** Another client deletes a child, which comes again. Changes by others are among the faults. */
function deletion(random: PseudoRandom) {
  const name = random.oneOf([...names, "themed"]);
  const kind = name === "themed" ? "ConfigMap" : random.oneOf<KindName>(["ConfigMap", "Secret", "Service"]);
  return {
    title: `a user deletes the child ${kind} ${name}, if there is one`,
    async act(user: User): Promise<void> {
      const { labels = {}, ownerReferences = [] } = (await user.get(kinds[kind], name))?.metadata ?? {};
      const isForeign = ownerReferences.some((owner) => owner.kind !== "ChildSet");
      if (labels["drover.dev/controller"] === undefined || isForeign) return;
      await user.delete(kinds[kind], name);
    },
  };
}

/** A scenario, always the same for a seed. */
export function randomScenario(seed: number): Scenario {
  const random = pseudoRandom(seed);
  const rules = { elsewhere: random.chance(0.5) };
  // A child that outlives its parent is declared in every step, and the parent stays: the end must follow from the last step.
  const isDeleted = random.chance(0.5);
  const outliving: readonly Child[] = isDeleted
    ? []
    : random.some(["five", "six"], random.between(0, 2)).map((name) => ({
        object: randomObject(random, name, rules),
        deletion: random.oneOf(["Orphan", "Retain"]),
      }));
  const declared = () => {
    const some = random.some(names, random.between(0, names.length));
    return set([...outliving, ...some.map((name) => randomChild(random, name, rules))]);
  };
  const steps: Scenario["steps"][number][] = [{ apply: declared() }];
  for (let i = random.between(1, 3); i > 0; i--) {
    const what = random.fraction();
    if (what < 0.5) steps.push({ apply: declared() });
    else if (what < 0.65) steps.push({ apply: theme(`t${i}`) });
    else steps.push(deletion(random));
  }
  if (isDeleted) steps.push({ delete: { apiVersion: "example.com/v1", kind: "ChildSet", name: "a" } });
  return faultScenario({
    name: `children of seed ${seed}`,
    // With copies, the faults meet lists that a run has left, and first runs that read none.
    start: () => sets(seed % 2 === 1),
    given: [theme("t0")],
    steps,
  });
}

const theme = (value: string) => ({ ...kinds.ConfigMap, metadata: { name: "theme" }, data: { value } });
