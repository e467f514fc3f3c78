import { replicaSetController } from "@drover/replicaset";
import type { FunctionUnderTest, Manifest } from "@drover/testing";
import replicaSetFunction from "../../../replicaset/src/function.ts";
import { deploymentController } from "../deployment-controller.ts";
import deploymentFunction from "../function.ts";

export { makeReady, pods, sets } from "../../../replicaset/src/testing/web.ts";
export const deployments = { apiVersion: "apps/v1", kind: "Deployment" };

/** The function, with the one that keeps its sets. */
export const bothFunctions: FunctionUnderTest = ({ now }) => ({
  controllers: [replicaSetController(now), deploymentController(now)],
});

export const bothDeployed = [replicaSetFunction, deploymentFunction];

/** A Deployment of that many pods of an image. */
export const web = (image: string, replicas: number, more: object = {}): Manifest => ({
  ...deployments,
  metadata: { name: "web" },
  spec: {
    replicas,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image }] } },
    ...more,
  },
});
