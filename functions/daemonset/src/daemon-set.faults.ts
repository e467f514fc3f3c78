import { faultScenario, type FunctionUnderTest, type User } from "@drover/testing";
import { daemonSetController } from "./daemon-set-controller.ts";
import deployedAs from "./function.ts";
import {
  addNode,
  daemonSet,
  daemonSets,
  pods,
  podStatuses,
  startPods,
  writePod,
} from "./testing/daemon-sets.ts";

const start: FunctionUnderTest = ({ now }) => daemonSetController(now);

const withNodes = (...names: readonly string[]) => ({
  title: `nodes ${names.join(", ")} are added`,
  act: async (user: User) => {
    for (const name of names) await addNode(user, name);
  },
});
const allReady = { title: "all pods become ready", act: startPods };
const oneFails = {
  title: "the first pod fails",
  act: async (user: User) => {
    const [first] = [...(await user.list(pods))].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    if (first !== undefined) await writePod(user, first, podStatuses.failed);
  },
};
const two = { updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 2 } } };

export const placed = faultScenario({
  name: "a DaemonSet comes to nodes, is rolled, and goes",
  start,
  deployedAs,
  except: {
    "pods default/* deleted": "without a kubelet the new pods do not become ready",
    "controllerrevisions.apps default/* deleted after step 6": "it is that of an earlier template",
  },
  steps: [
    withNodes("a", "b"),
    { apply: daemonSet("v1", two) },
    allReady,
    withNodes("c"),
    allReady,
    { apply: daemonSet("v2", two) },
    { delete: { ...daemonSets, name: "agent" } },
  ],
});

export const failing = faultScenario({
  name: "a pod of a DaemonSet fails, and another one takes its place",
  start,
  deployedAs,
  except: { "pods default/* deleted": "without a kubelet the new pods do not become ready" },
  steps: [withNodes("a", "b"), { apply: daemonSet("v1") }, allReady, oneFails],
});
