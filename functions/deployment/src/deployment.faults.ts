import { replicaSetController } from "@drover/replicaset";
import { faultScenario, type FunctionUnderTest, type Manifest, type User } from "@drover/testing";
import { deploymentController } from "./deployment-controller.ts";

const pods = { apiVersion: "v1", kind: "Pod" };
const sets = { apiVersion: "apps/v1", kind: "ReplicaSet" };
const deployments = { apiVersion: "apps/v1", kind: "Deployment" };

/** With the function that keeps its sets. */
const start: FunctionUnderTest = ({ client, now }) => {
  const parts = { client: () => client, now };
  return { controllers: [replicaSetController(parts), deploymentController(parts)] };
};
const web = (image: string, replicas: number, more: object = {}): Manifest => ({
  ...deployments,
  metadata: { name: "web" },
  spec: {
    replicas,
    revisionHistoryLimit: 1,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image }] } },
    ...more,
  },
});

/** As a kubelet does; what a plan puts beside them is left alone. */
const allReady = {
  title: "all its pods become ready",
  async act(user: User) {
    const [deployment] = await user.list(deployments);
    const ours = (await user.list(sets)).filter(({ metadata }) =>
      metadata.ownerReferences?.some(({ uid }) => uid === deployment?.metadata.uid),
    );
    const owners = new Set(ours.map(({ metadata }) => metadata.uid));
    for (const { metadata } of await user.list(pods)) {
      if (!metadata.ownerReferences?.some(({ uid }) => owners.has(uid))) continue;
      const ready = { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };
      await user.state({ ...pods, metadata, status: { phase: "Running", conditions: [ready] } });
    }
  },
};

export const rolled = faultScenario({
  name: "a Deployment comes, rolls to another image, and goes",
  start,
  except: {
    "taken away after step 5": "there is nobody who makes the new pods ready, and an old set stays gone",
  },
  steps: [
    { apply: web("web:1", 2) },
    allReady,
    { apply: web("web:2", 2) },
    allReady,
    allReady,
    { delete: { ...deployments, name: "web" } },
  ],
});

export const recreated = faultScenario({
  name: "a Deployment is recreated",
  start,
  except: { "taken away after step 3": "an old set stays gone" },
  steps: [
    { apply: web("web:1", 1, { strategy: { type: "Recreate" } }) },
    allReady,
    { apply: web("web:2", 1, { strategy: { type: "Recreate" } }) },
  ],
});

export default rolled;
