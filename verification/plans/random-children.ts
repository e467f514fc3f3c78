import type { ChildObject, SettledChild } from "@drover/controller";
import type { PseudoRandom } from "@drover/random";
import { kinds } from "../../packages/compose/src/website.fixture.ts";

/** A child of a website as the suite draws it. Secrets have values that no plan may show. */
export function randomChild(random: PseudoRandom, name: string): SettledChild {
  const wave = random.chance(0.1) ? 1 : 0;
  return {
    object: randomObject(random, name),
    wave,
    update: random.oneOf(["Apply", "Apply", "Recreate", "OnDelete", "Rolling"]),
    deletion: random.oneOf(["Delete", "Delete", "Orphan", "Retain"]),
    adopt: random.chance(0.3),
  };
}

/** All secret values begin with this. */
export const secretPrefix = "s3cr3t-";
const secretValue = (random: PseudoRandom): string => `${secretPrefix}${random.below(1_000_000)}`;

function randomObject(random: PseudoRandom, name: string): ChildObject {
  const labels = random.chance(0.5) ? { labels: { tier: random.oneOf(["a", "b"]) } } : {};
  const metadata = { name, ...labels };
  switch (random.oneOf(["configMap", "configMap", "secret", "service", "deployment"] as const)) {
    case "configMap":
      return {
        ...kinds.configMap,
        metadata,
        data: randomData(random, () => String(random.below(5))),
        // An immutable ConfigMap refuses a change of its data.
        ...(random.chance(0.2) && { immutable: true }),
      };
    case "secret":
      return { ...kinds.secret, metadata, stringData: randomData(random, () => secretValue(random)) };
    case "service":
      return {
        ...kinds.service,
        metadata,
        spec: {
          selector: { app: name },
          ports: [{ name: "web", port: random.oneOf([80, 81]) }],
          type: random.oneOf(["ClusterIP", "NodePort"]),
        },
      };
    case "deployment":
      return deployment(random, metadata);
  }
}

const randomData = (random: PseudoRandom, value: () => string): Readonly<Record<string, string>> =>
  Object.fromEntries(random.some(["a", "b", "c.txt"], 2).map((field) => [field, value()]));

function deployment(random: PseudoRandom, metadata: ChildObject["metadata"]): ChildObject {
  // The selector is immutable.
  const labels = { app: random.oneOf(["one", "one", "two"]) };
  const containers = random.some(["web", "log"], random.between(1, 2)).map((name) => ({
    name,
    image: random.oneOf(["web:1", "web:2"]),
    resources: { requests: { cpu: random.oneOf(["1000m", "1", "500m"]) } },
  }));
  const template = { metadata: { labels }, spec: { containers } };
  return {
    ...kinds.deployment,
    metadata,
    spec: { replicas: random.oneOf([1, 2]), selector: { matchLabels: labels }, template },
  };
}

/** A child that the API server refuses. */
const invalid = (random: PseudoRandom): ChildObject => ({
  ...kinds.service,
  metadata: { name: "invalid" },
  spec: { ports: [{ port: random.oneOf([0, 70_000]) }] },
});

/** The declared children after one more change. */
export function changedDeclaration(
  random: PseudoRandom,
  before: readonly SettledChild[],
): readonly SettledChild[] {
  const names = ["one", "two", "three", "four", "five"];
  const free = names.filter((name) => before.every(({ object }) => object.metadata.name !== name));
  const [victim] = random.some(before, 1);
  const others = before.filter((child) => child !== victim);
  // Mostly of the same kind, with other fields.
  const renewed = (child: SettledChild): SettledChild => {
    const other = randomChild(random, child.object.metadata.name);
    return other.object.kind === child.object.kind || random.chance(0.1) ? other : renewed(child);
  };
  const valid = before.filter(({ object }) => object.metadata.name !== "invalid");
  if (valid.length < before.length && random.chance(0.7)) return valid;
  if (victim === undefined) return free.slice(0, 2).map((name) => randomChild(random, name));
  switch (
    random.oneOf(["add", "add", "remove", "renew", "renew", "renew", "renew", "settings", "invalid"] as const)
  ) {
    case "add":
      return [...before, ...free.slice(0, 1).map((name) => randomChild(random, name))];
    case "remove":
      return others;
    case "renew":
      return [...others, renewed(victim)];
    case "settings":
      return [...others, { ...randomChild(random, "settings"), object: victim.object }];
    case "invalid":
      return [...valid, { object: invalid(random) }];
  }
}
