import { expect, it } from "vitest";
import { decideDraft, deploymentOf, setOf, sizes } from "../testing/drafts.ts";

const recreated = deploymentOf({ replicas: 3, strategy: { type: "Recreate" } });
const ended = { replicas: 0, readyReplicas: 0, availableReplicas: 0 };

it.each([
  ["a pod of theirs may still run", true, 0],
  ["one of them has pods in its status", false, 1],
])("a recreation makes no new pods while the old sets are to have none and %s", (_, mayRun, replicas) => {
  const sets = [
    setOf("web:a", { size: 0, status: { ...ended, replicas } }),
    setOf("web:b", { size: 0, age: 1 }),
    setOf("web:new", { size: 0, age: 2 }),
  ];
  expect(sizes(decideDraft(recreated, sets, mayRun))).toEqual({ "web:a": 0, "web:b": 0, "web:new": 0 });
});

it("a recreation goes on with the set that was made for it, once the old pods have ended", () => {
  const sets = [setOf("web:old", { size: 0 }), setOf("web:new", { size: 1, age: 1 })];
  expect(sizes(decideDraft(recreated, sets))).toEqual({ "web:old": 0, "web:new": 3 });
});

it("nothing of a Deployment that is being deleted moves", () => {
  const deleting = { deletionTimestamp: "2026-01-01T12:00:00Z" };
  const { metadata, ...more } = deploymentOf({ replicas: 3 });
  const draft = decideDraft({ ...more, metadata: { ...metadata, ...deleting } }, [
    setOf("web:old", { size: 5 }),
  ]);
  expect(sizes(draft)).toEqual({ "web:old": 5 });
  expect(draft.status).toMatchObject({ replicas: 5, observedGeneration: 1 });
});
