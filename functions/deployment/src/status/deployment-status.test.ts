import { expect, it } from "vitest";
import { countReplicas, isComplete } from "./deployment-status.ts";
import { type Draft, draftOf } from "../draft.ts";
import { deploymentOf, setOf, testTime } from "../testing/drafts.ts";

function counted(deployment: Parameters<typeof draftOf>[0], ...sets: readonly ReturnType<typeof setOf>[]) {
  const draft = draftOf(deployment, sets, testTime);
  countReplicas(draft);
  return draft.status;
}

it("counts the pods in the status of the sets, also where they are to have more or fewer", () => {
  const deployment = deploymentOf({ replicas: 4 }, { status: { observedGeneration: 0, updatedReplicas: 9 } });
  const old = { replicas: 3, readyReplicas: 2, availableReplicas: 1 };
  const fresh = { replicas: 2, readyReplicas: 1, availableReplicas: 0 };
  expect(
    counted(
      deployment,
      setOf("web:old", { size: 2, status: old }),
      setOf("web:new", { size: 4, status: fresh, age: 1 }),
    ),
  ).toMatchObject({
    observedGeneration: 1,
    replicas: 5,
    updatedReplicas: 2,
    readyReplicas: 3,
    // Six are asked for in all.
    availableReplicas: 1,
    unavailableReplicas: 5,
  });
});

it.each([
  ["all sets count theirs", [{ terminatingReplicas: 2 }, { terminatingReplicas: 1 }], 3],
  ["one set's controller does not count", [{ terminatingReplicas: 2 }, {}], undefined],
  ["one set was not looked at yet", [{ terminatingReplicas: 2 }, { observedGeneration: 0 }], 2],
  ["there are no sets", [], 0],
])("counts the pods that are ending where %s", (_, statuses, expected) => {
  const sets = statuses.map((status, i) => setOf(`web:${i}`, { status }));
  const before = deploymentOf({}, { status: { terminatingReplicas: 9 } });
  expect(counted(before, ...sets).terminatingReplicas).toBe(expected);
});

const rolling = (maxUnavailable: number) => ({
  strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable } },
});
it.each([
  [rolling(1), 3, "True"],
  [rolling(1), 2, "False"],
  [rolling(0), 4, "True"],
  [rolling(0), 3, "False"],
  [{ strategy: { type: "Recreate" } }, 3, "False"],
])("of four with %j are %i available: Available is %s", (strategy, availableReplicas, expected) => {
  const status = counted(
    deploymentOf({ replicas: 4, ...strategy }),
    setOf("web:new", { size: 4, status: { availableReplicas } }),
  );
  expect(status.conditions?.find(({ type }) => type === "Available")?.status).toBe(expected);
});

it.each([
  [3, 3, 3, true],
  [2, 3, 3, false],
  [3, 4, 3, false],
  [3, 3, 2, false],
])("with %i new pods of %i, and %i available, three are complete: %s", (updated, all, available, is) => {
  const status = { updatedReplicas: updated, replicas: all, availableReplicas: available };
  const draft: Draft = draftOf(deploymentOf({ replicas: 3 }, { status }), [], testTime);
  expect(isComplete(draft)).toBe(is);
});
