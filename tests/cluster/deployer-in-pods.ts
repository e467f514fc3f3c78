import { silentLog } from "@drover/controller";
import { connectRedis, disconnectRedis, redisUserRules } from "@drover/queue";
import { join } from "node:path";
import { z } from "zod";
import { type AuditedRequest, auditLog } from "./audit-log.ts";
import { eventually, type PodCluster, startPodClusterAs } from "./pod-cluster.ts";
import { s3, valkey } from "./workloads.ts";

const root = new URL("../..", import.meta.url).pathname;
const images = { valkey: "valkey/valkey:9", s3: "motoserver/moto:5.2.5" };

/** What people install who have functions deployed, in that order. */
const installed = [
  "apps/bridge/deploy/crd.yaml",
  "apps/bridge/deploy/rbac.yaml",
  "apps/deployer/deploy/authors.yaml",
  "apps/deployer/deploy/rbac.yaml",
  "apps/gateway/deploy/rbac.yaml",
  ...["bridge", "deployer", "gateway"].map((part) => `apps/${part}/deploy/deployment.yaml`),
];
const parts = ["bridge", "deployer", "gateway"] as const;

export const accountOf = (namespace: string, name: string) => `system:serviceaccount:${namespace}:${name}`;
export const deployer = accountOf("drover", "deployer");
export const bridge = accountOf("drover", "bridge");
export const gateway = accountOf("drover", "gateway");
/** Where functions are. Pods there must be as Kubernetes' strictest standard has it. */
export const home = "apps";

/** A cluster in which functions are deployed as anybody would have it: by kubectl, as somebody who may do some things. */
export interface DeployerInPods extends PodCluster {
  /** Where the S3 server is reached from here. */
  readonly s3Url: string;
  /** As somebody who may do anything in it. */
  readonly redisUrl: string;
  /** `kubectl apply` in the namespace of functions, as a user; left out: as the administrator. */
  applyAs(user: string | undefined, ...objects: readonly object[]): Promise<void>;
  /** `kubectl get -o json` in the namespace of functions. */
  readonly read: <Schema extends z.ZodType>(
    what: readonly string[],
    schema: Schema,
  ) => Promise<z.output<Schema>>;
  /** What bridge, deployer and gateway asked the API server for; and anybody, of Pods, Buckets and Tasks. */
  audited(): Promise<readonly AuditedRequest[]>;
  redisUsers(): Promise<readonly string[]>;
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
    {
      apiServerArgs: [
        ...audit.apiServerArgs,
        // Off unless asked for; some distributions ask for it.
        "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
      ],
    },
    ...parts.map((part) => ({ of: part, as: `drover/${part}:0.1.0` })),
    { of: "s3-bucket", as: "drover/s3-bucket:1" },
    { of: "tasks", entry: "tests/end-to-end/tasks.ts", as: "example/tasks:1" },
    { of: "valkey", as: images.valkey },
    { of: "s3", as: images.s3 },
  );
  const stop = () => cluster.stop().finally(() => audit.remove());
  try {
    await install(cluster);
    const s3Url = `http://127.0.0.1:${await reached(cluster, home, "s3", 5000)}`;
    const redisUrl = `redis://admin:admin@127.0.0.1:${await reached(cluster, "drover", "valkey", 6379)}`;
    return {
      ...{ ...cluster, s3Url, redisUrl, stop, audited: audit.read },
      async applyAs(user, ...items) {
        const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
        const as = user === undefined ? [] : ["--as", user, "--as-group", "makers"];
        await cluster.kubectl(["apply", "-n", home, "-f", "-", ...as], { input });
      },
      read: async (what, schema) =>
        schema.parse(JSON.parse(await cluster.kubectl(["get", "-n", home, "-o", "json", ...what]))),
      redisUsers: () => redisUsers(redisUrl),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function install(cluster: PodCluster): Promise<void> {
  const restricted = { "pod-security.kubernetes.io/enforce": "restricted" };
  const namespaces = ["drover", home].map((name) => ({
    ...{ apiVersion: "v1", kind: "Namespace", metadata: { name, labels: restricted } },
  }));
  const secrets = parts.map((name) => ({
    ...{ apiVersion: "v1", kind: "Secret", metadata: { name: `${name}-redis` } },
    stringData: { password: `secret-of-${name}` },
  }));
  const applied = (namespace: string, items: readonly object[]) =>
    cluster.kubectl(["apply", "-n", namespace, "-f", "-"], {
      input: JSON.stringify({ apiVersion: "v1", kind: "List", items }),
    });
  await cluster.apply(...namespaces);
  await applied("drover", [...secrets, ...valkey(images.valkey, users)]);
  // Beside the functions: this server takes a name with a dot for that of a bucket.
  await applied(home, s3(images.s3));
  await cluster.kubectl(["apply", ...installed.flatMap((file) => ["-f", join(root, file)])]);
  await cluster.wait("condition=Established", "crd/reconcilefunctions.drover.dev");
  // The policies' own discovery hears of a new kind later than everybody else, and refuses its objects until then.
  await eventually(() =>
    cluster.kubectl(["apply", "-n", "drover", "-f", join(root, "apps/deployer/deploy/function.yaml")]),
  );
  const deployments = ["valkey", ...parts].map((name) => `deployment/${name}`);
  await cluster.wait("condition=Available", "--namespace=drover", ...deployments);
  await cluster.wait("condition=Available", `--namespace=${home}`, "deployment/s3");
}

const users = [
  ...parts.map((part) => {
    const role = part === "gateway" ? "function" : part;
    return `${part} ${redisUserRules({ role, controllers: "all" })} >secret-of-${part}`;
  }),
  "admin on ~* &* +@all >admin",
  "default off",
];

async function reached(cluster: PodCluster, namespace: string, name: string, port: number): Promise<number> {
  const address = ["get", "service", name, "-n", namespace, "-o", "jsonpath={.spec.clusterIP}"];
  return (await cluster.reach(await cluster.kubectl(address), port)).port;
}

async function redisUsers(url: string): Promise<readonly string[]> {
  const connection = await connectRedis({ url, clientName: "test", log: silentLog });
  try {
    return z.array(z.string()).parse(await connection.call("ACL", ["USERS"]));
  } finally {
    await disconnectRedis(connection);
  }
}
