import { expect, it } from "vitest";
import { decideDraft, deploymentOf, setOf, type SetOptions, sizes } from "../testing/drafts.ts";

const recreated = deploymentOf({ replicas: 3, strategy: { type: "Recreate" } });
const ended = { replicas: 0, readyReplicas: 0, availableReplicas: 0 };
const olds = [setOf("web:a", { size: 0 }), setOf("web:b", { size: 0, age: 1 })];

it.each<[string, boolean, SetOptions]>([
  ["a pod of theirs may still run", true, {}],
  ["one of them has pods in its status", false, { status: { ...ended, replicas: 1 } }],
  ["the controller of one has not observed that yet", false, { generation: 2 }],
])("a recreation makes no new pods while the old sets are to have none and %s", (_, mayRun, more) => {
  const all = [...olds, setOf("web:c", { size: 0, ...more })];
  const none = { "web:a": 0, "web:b": 0, "web:c": 0 };
  expect(sizes(decideDraft(recreated, all, mayRun))).toEqual(none);
  const begun = [...all, setOf("web:new", { size: 0, age: 2 })];
  expect(sizes(decideDraft(recreated, begun, mayRun))).toEqual({ ...none, "web:new": 0 });
});

it.each([
  ["makes the new set", []],
  ["goes on with the set that was made for it", [setOf("web:new", { size: 1, age: 2 })]],
])("a recreation %s, once the old pods have ended", (_, made) => {
  const draft = decideDraft(recreated, [...olds, ...made]);
  expect(sizes(draft)).toEqual({ "web:a": 0, "web:b": 0, "web:new": 3 });
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
