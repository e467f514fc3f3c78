import { expect, it } from "vitest";
import { decideDraft, deploymentOf, setOf, template } from "../testing/drafts.ts";

const made = (spec: object, status: object = {}) => {
  const { sets } = decideDraft(deploymentOf(spec, { status }), []);
  const [one] = sets;
  return one ?? expect.fail("No set was made.");
};

it("a new set has the Deployment's template and selector, with a label of its own in both", () => {
  const matchExpressions = [{ key: "tier", operator: "Exists" as const }];
  const { set, minReadySeconds, annotations } = made({
    replicas: 3,
    minReadySeconds: 7,
    strategy: { rollingUpdate: { maxSurge: 2 } },
    selector: { matchLabels: { app: "web" }, matchExpressions },
  });
  const hash = set.metadata.labels?.["pod-template-hash"] ?? "";
  expect(set.metadata.name).toBe(`web-${hash}`);
  const labels = { app: "web", "pod-template-hash": hash };
  expect(set.metadata).toMatchObject({ labels, ownerReferences: [{ uid: "u", controller: true }] });
  expect(set.spec.selector).toEqual({ matchLabels: labels, matchExpressions });
  expect(set.spec.template).toEqual({ ...template("web:new"), metadata: { labels } });
  expect([set.spec.minReadySeconds, minReadySeconds]).toEqual([7, 7]);
  expect(annotations).toEqual({
    "deployment.kubernetes.io/revision": "1",
    "deployment.kubernetes.io/desired-replicas": "3",
    "deployment.kubernetes.io/max-replicas": "5",
  });
});

it("the same template has the same name, however it is written; after a collision another", () => {
  const nameOf = (of: object, status: object = {}) => made({ template: of }, status).set.metadata.name;
  const { metadata, spec } = template("web:new");
  const [container] = spec.containers;
  const turned = { ports: null, env: [], image: container?.image, name: container?.name };
  expect(nameOf({ spec: { nodeSelector: {}, containers: [turned] }, metadata })).toBe(
    nameOf({ metadata, spec }),
  );
  expect(nameOf(template("web:other"))).not.toBe(nameOf({ metadata, spec }));
  const names = [0, 1, 2].map((collisionCount) => nameOf({ metadata, spec }, { collisionCount }));
  expect(new Set(names).size).toBe(3);
});

it.each([
  [{ maxSurge: 1 }, 10, 1],
  [{ maxSurge: 4 }, 8, 6],
  [{ maxSurge: 20 }, 10, 10],
  [{ maxSurge: 0, maxUnavailable: 1 }, 10, 0],
])("with %j beside %i old pods of ten a new set begins with %i", (rollingUpdate, old, expected) => {
  const { sets } = decideDraft(deploymentOf({ replicas: 10, strategy: { rollingUpdate } }), [
    setOf("web:old", { size: old }),
  ]);
  expect(sets[1]?.replicas).toBe(expected);
});
