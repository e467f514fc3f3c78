import { type PolicyRule, ReconcileFunction } from "@drover/controller";

export interface Author {
  readonly user: string;
  readonly home: string;
  readonly grants: readonly { readonly rules: readonly PolicyRule[]; readonly namespace?: string }[];
}

type Random = () => number;

export const words = {
  namespaces: ["n0", "n1", "n2", "n3", "n4"],
  names: ["a", "b", "c"],
  verbs: ["get", "list", "watch", "create", "patch", "update", "delete"],
  kinds: [
    { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", scope: "Namespaced" },
    { group: "", version: "v1", kind: "Secret", plural: "secrets", scope: "Namespaced" },
    { group: "", version: "v1", kind: "Service", plural: "services", scope: "Namespaced" },
    { group: "apps", version: "v1", kind: "Deployment", plural: "deployments", scope: "Namespaced" },
  ],
} as const;

const one = <T>(random: Random, of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
const some = <T>(random: Random, of: readonly T[]): T[] => {
  const chosen = of.filter(() => random() < 0.4);
  return chosen.length > 0 ? chosen : [one(random, of)];
};

/** Rules as people write them, some with `*`, some with names, some with the same twice. */
export const randomRules = (random: Random): readonly PolicyRule[] =>
  Array.from({ length: 1 + Math.floor(random() * 2) }, () => {
    const { group, plural } = one(random, words.kinds);
    const resources = random() < 0.1 ? ["*"] : random() < 0.2 ? [plural, `${plural}/status`] : [plural];
    const rule = {
      apiGroups: random() < 0.1 ? ["*"] : [group],
      resources,
      verbs: random() < 0.1 ? ["*"] : some(random, words.verbs),
    };
    return random() < 0.25 ? { ...rule, resourceNames: some(random, words.names) } : rule;
  });

/** What all authors hold in their own namespace, and something of their own there, elsewhere or everywhere. */
export function randomAuthor(random: Random, index: number): Author {
  const home = one(random, words.namespaces);
  const follow = some(random, words.kinds).map(({ group, plural }) => ({
    apiGroups: [group],
    resources: [plural, `${plural}/status`],
    verbs: random() < 0.5 ? ["*"] : ["get", "list", "watch", "patch", "update"],
  }));
  return {
    user: `author-${index}`,
    home,
    grants: [
      {
        namespace: home,
        rules: [
          { apiGroups: ["drover.dev"], resources: ["reconcilefunctions"], verbs: ["*"] },
          { apiGroups: [""], resources: ["pods"], verbs: ["create"] },
          { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
        ],
      },
      { rules: follow, ...(random() < 0.6 && { namespace: home }) },
      ...Array.from({ length: 3 }, () => ({
        rules: randomRules(random),
        ...(random() < 0.7 && { namespace: one(random, words.namespaces) }),
      })),
    ],
  };
}

/** A function that asks for what its author holds, or for more. */
export function randomFunction(random: Random, { home, grants, user }: Author, index: number): object {
  const followed = grants[1]?.rules.map(({ resources = [] }) => resources[0]) ?? [];
  const held = words.kinds.filter(({ plural }) => followed.includes(plural));
  const kind = one(random, random() < 0.8 ? held : words.kinds);
  const namespaces = random() < 0.7 ? [home] : random() < 0.5 ? some(random, words.namespaces) : undefined;
  const fitting = grants.slice(1).filter(({ namespace = home }) => namespace === home);
  const grant = one(random, fitting.length > 0 ? fitting : grants);
  const asked = random() < 0.2 ? [] : random() < 0.75 ? grant.rules : randomRules(random);
  const isRight = random() < 0.85;
  const where = (grant.namespace === undefined) === isRight && random() < 0.5 ? "cluster" : "namespace";
  const delivery =
    random() < 0.3
      ? { delivery: "webhook", webhook: { service: { name: "somewhere", port: 80 } } }
      : { container: { image: "registry.example.com/any:1" }, copies: random() < 0.5 };
  return {
    apiVersion: ReconcileFunction.apiVersion,
    kind: ReconcileFunction.kind,
    metadata: { name: `${user}-${index}`, namespace: home },
    spec: {
      for: { ...kind, ...(namespaces && { namespaces }) },
      ...delivery,
      ...(asked.length > 0 && { permissions: { [where]: asked } }),
    },
  };
}
