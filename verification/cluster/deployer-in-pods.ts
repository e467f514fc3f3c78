import type { z } from "zod";
import { type AuditedRequest, auditLog, ownersAreChecked } from "@drover/real-cluster";
import { redisUsers } from "../harness/redis-contents.ts";
import { applyIn, installDeployer, partImages } from "./installed-deployer.ts";
import { type PodCluster, startPodClusterAs } from "./pod-cluster.ts";
import { s3 } from "./workloads.ts";

const s3Image = "motoserver/moto:5.2.5";

export const accountOf = (namespace: string, name: string) => `system:serviceaccount:${namespace}:${name}`;
export const deployer = accountOf("drover", "deployer");
export const bridge = accountOf("drover", "bridge");
export const gateway = accountOf("drover", "gateway");
/** Where functions are. Pods there must be as Kubernetes' strictest standard has it. */
export const home = "apps";

/** A cluster in which functions are deployed with kubectl by a user with some permissions. */
export interface DeployerInPods extends PodCluster {
  /** Where the S3 server is reached from here. */
  readonly s3Url: string;
  /** As the administrator of the cluster. */
  readonly redisUrl: string;
  /** `kubectl apply` in the namespace of functions, as a user; left out: as the administrator. */
  applyAs(user: string | undefined, ...objects: readonly object[]): Promise<void>;
  /** `kubectl get -o json` in the namespace of functions. */
  readonly read: <Schema extends z.ZodType>(
    what: readonly string[],
    schema: Schema,
  ) => Promise<z.output<Schema>>;
  /** Requests of bridge, deployer and gateway; and those of all users for Pods, Buckets and Tasks. */
  audited(): Promise<readonly AuditedRequest[]>;
  redisUsers(): Promise<readonly string[]>;
  /** The Redis users of the functions of a name, in the namespace of functions. */
  usersOf(name: string): Promise<readonly string[]>;
}

export async function startDeployerInPods(): Promise<DeployerInPods> {
  const audit = await auditLog(
    [bridge, deployer, gateway],
    [
      { group: "", resources: ["pods", "pods/*"] },
      { group: "s3.drover.dev", resources: ["buckets", "buckets/*"] },
      { group: "example.com", resources: ["tasks", "tasks/*"] },
    ],
  );
  const cluster = await startPodClusterAs(
    { apiServerArgs: [...audit.apiServerArgs, ownersAreChecked] },
    ...partImages,
    { of: "s3-bucket", as: "drover/s3-bucket:1" },
    { of: "tasks", entry: "verification/end-to-end/functions/tasks.ts", as: "example/tasks:1" },
    { of: "s3", as: s3Image },
  );
  const stop = () => cluster.stop().finally(() => audit.remove());
  try {
    await installDeployer(cluster, home);
    // Beside the functions: this server takes a name with a dot for that of a bucket.
    await applyIn(cluster, home, ...s3(s3Image));
    await cluster.wait("condition=Available", `--namespace=${home}`, "deployment/s3");
    const s3Url = `http://127.0.0.1:${await reached(cluster, home, "s3", 5000)}`;
    const redisUrl = `redis://admin:admin@127.0.0.1:${await reached(cluster, "drover", "valkey", 6379)}`;
    return {
      ...cluster,
      s3Url,
      redisUrl,
      stop,
      audited: audit.read,
      async applyAs(user, ...items) {
        const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
        const as = user === undefined ? [] : ["--as", user, "--as-group", "makers"];
        await cluster.kubectl(["apply", "-n", home, "-f", "-", ...as], { input });
      },
      read: async (what, schema) =>
        schema.parse(JSON.parse(await cluster.kubectl(["get", "-n", home, "-o", "json", ...what]))),
      redisUsers: () => redisUsers(redisUrl),
      usersOf: async (name) =>
        (await redisUsers(redisUrl)).filter((user) => user.startsWith(`function:${home}/${name}/`)),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function reached(cluster: PodCluster, namespace: string, name: string, port: number): Promise<number> {
  const address = ["get", "service", name, "-n", namespace, "-o", "jsonpath={.spec.clusterIP}"];
  return (await cluster.reach(await cluster.kubectl(address), port)).port;
}
