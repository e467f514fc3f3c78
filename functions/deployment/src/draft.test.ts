import { expect, it } from "vitest";
import { draftOf, resize } from "./draft.ts";
import { deploymentOf, setOf, testTime } from "./testing/drafts.ts";

it.each([
  [2, 5, "Scaled up replica set web:a from 2 to 5"],
  [5, 2, "Scaled down replica set web:a from 5 to 2"],
  [1, 0, "Scaled down replica set web:a from 1 to 0"],
])("a set that is resized from %d to %d has an Event", (from, to, note) => {
  const draft = draftOf(deploymentOf({}), [setOf("web:a", { size: from })], testTime);
  expect(resize(draft, draft.sets[0]!, to)).toBe(true);
  expect(draft.sets[0]?.replicas).toBe(to);
  expect(draft.announcements).toEqual([
    { type: "Normal", reason: "ScalingReplicaSet", action: "Scale", note },
  ]);
});

it("a set that has its size is left as it is", () => {
  const draft = draftOf(deploymentOf({}), [setOf("web:a", { size: 2 })], testTime);
  expect(resize(draft, draft.sets[0]!, 2)).toBe(false);
  expect(draft.announcements).toEqual([]);
});
