import { faultScenario, type FunctionUnderTest, type Manifest, type User } from "@drover/testing";
import deployedAs from "./function.ts";
import { replicaSetController } from "./replica-set-controller.ts";
import { makeReady, pods, sets, web } from "./testing/web.ts";

const start: FunctionUnderTest = ({ now }) => replicaSetController(now);
const orphan: Manifest = {
  ...pods,
  metadata: { name: "orphan", labels: { app: "web" } },
  spec: { containers: [{ name: "web", image: "web:1" }] },
};

const allReady = {
  title: "all its pods become ready",
  act: async (user: User) => makeReady(user, await user.list(sets)),
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
