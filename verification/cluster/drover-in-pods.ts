import { join } from "node:path";
import { z } from "zod";
import { type PodCluster, startPodCluster } from "./pod-cluster.ts";
import { account, deployment, droverProcess, s3, valkey } from "./workloads.ts";

const root = new URL("../..", import.meta.url).pathname;
const images = {
  bridge: "drover/bridge:1",
  bucket: "drover/s3-bucket:1",
  valkey: "valkey/valkey:9",
  s3: "motoserver/moto:5.2.5",
};

/** Drover on a cluster, every part of it a pod: Valkey, the bridge, the bucket function, and an S3 server for it. */
export interface DroverInPods extends PodCluster {
  /** Where the S3 server is reached from here. */
  readonly s3Url: string;
}

export async function startDroverInPods(): Promise<DroverInPods> {
  const cluster = await startPodCluster(
    { of: "bridge", as: images.bridge },
    { of: "s3-bucket", as: images.bucket },
    { of: "valkey", as: images.valkey },
    { of: "s3", as: images.s3 },
  );
  try {
    const crds = ["apps/bridge/deploy/crd.yaml", "functions/s3-bucket/deploy/crd.yaml"];
    await cluster.kubectl(["apply", ...crds.flatMap((file) => ["-f", join(root, file)])]);
    await cluster.wait(
      "condition=Established",
      "crd/reconcilefunctions.drover.dev",
      "crd/buckets.s3.drover.dev",
    );
    await cluster.apply(...valkey(images.valkey), ...s3(images.s3), ...accounts, ...processes);
    await cluster.kubectl(["apply", "-f", join(root, "functions/s3-bucket/deploy/function.yaml")]);
    const parts = ["valkey", "s3", "bridge", "bucket"].map((name) => `deployment/${name}`);
    await cluster.wait("condition=Available", ...parts);
    const { spec } = await cluster.get("service/s3", serviceSchema);
    const { port } = await cluster.reach(spec.clusterIP, 5000);
    return { ...cluster, s3Url: `http://127.0.0.1:${port}` };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

const serviceSchema = z.object({ spec: z.object({ clusterIP: z.string() }) });

const follow = ["get", "list", "watch"];
const functions = { apiGroups: ["drover.dev"] };
const buckets = { apiGroups: ["s3.drover.dev"] };
const events = { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] };

const accounts = [
  ...account("bridge", [
    { ...functions, resources: ["reconcilefunctions"], verbs: follow },
    { ...functions, resources: ["reconcilefunctions/status"], verbs: ["patch"] },
    { ...buckets, resources: ["buckets"], verbs: follow },
    events,
  ]),
  ...account("bucket", [
    // Its uid names the queue.
    { ...functions, resources: ["reconcilefunctions"], verbs: ["get"] },
    { ...buckets, resources: ["buckets"], verbs: ["get", "patch"] },
    { ...buckets, resources: ["buckets/status"], verbs: ["update"] },
    { apiGroups: [""], resources: ["secrets"], verbs: ["get"] },
    events,
  ]),
];

const processes = [
  deployment("bridge", 1, droverProcess("bridge", images.bridge, { DROVER_AUTHORS: "trusted" })),
  deployment(
    "bucket",
    1,
    droverProcess("bucket", images.bucket, {
      DROVER_FUNCTION: "default/buckets.s3.drover.dev",
      DROVER_S3_ENDPOINT: "http://s3:5000",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "of-no-consequence-to-this-server",
    }),
  ),
];
