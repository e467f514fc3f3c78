import { faultScenario, type FunctionUnderTest, type Manifest, type User } from "@drover/testing";
import deployedAs from "./function.ts";
import { replicaSetController } from "./replica-set-controller.ts";
import { pods, sets, web } from "./testing/web.ts";

const start: FunctionUnderTest = ({ now }) => replicaSetController(now);
const orphan: Manifest = {
  ...pods,
  metadata: { name: "orphan", labels: { app: "web" } },
  spec: { containers: [{ name: "web", image: "web:1" }] },
};

/** Does what a kubelet does. Pods that the plan adds to these are left alone. */
const allReady = {
  title: "all its pods become ready",
  async act(user: User) {
    const owners = new Set((await user.list(sets)).map(({ metadata }) => metadata.uid));
    for (const { metadata } of await user.list(pods)) {
      if (!metadata.ownerReferences?.some(({ uid }) => owners.has(uid))) continue;
      const ready = { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };
      await user.writeStatus({ ...pods, metadata, status: { phase: "Running", conditions: [ready] } });
    }
  },
};
const relabelled = {
  title: "the orphan is relabelled",
  act: (user: User) => user.apply({ ...orphan, metadata: { name: "orphan", labels: { app: "other" } } }),
};

export const scaled = faultScenario({
  name: "a ReplicaSet comes, grows, shrinks and goes",
  start,
  deployedAs,
  except: { "deleted after step": "without a kubelet the new pods do not become ready" },
  steps: [
    { apply: web(2) },
    allReady,
    { apply: web(4) },
    { apply: web(1) },
    { delete: { ...sets, name: "web" } },
  ],
});

export const adopted = faultScenario({
  name: "a ReplicaSet adopts an orphan, and lets it go again",
  start,
  deployedAs,
  given: [orphan],
  except: {
    "step 3 with no run after step 2": "it is the set's until it is released, and goes with it",
    "pods default/* deleted": "the orphan does not come again",
  },
  steps: [{ apply: web(2) }, relabelled, { delete: { ...sets, name: "web" } }],
});

export default scaled;
