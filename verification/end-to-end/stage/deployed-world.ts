import { customResourceDefinition, ReconcileFunction, type Resource, silentLog } from "@drover/controller";
import { connect, type KubeClient } from "@drover/kube";
import { type Images, startNode } from "@drover/process-kubelet";
import { join } from "node:path";
import { afterAll } from "vitest";
import { z } from "zod";
import { core, namespaceNamed } from "../../harness/manifests.ts";
import { askAcl, redisUsers } from "../../harness/redis-contents.ts";
import { registrationOfDeployer } from "./deployer-registration.ts";
import { compiled, type Started } from "../../harness/start-process.ts";
import { ofCluster, startWorld, type World } from "./world.ts";

/** A world in which functions are deployed: a bridge, the deployer, and a node that runs Pods. */
export interface DeployedWorld extends World {
  readonly client: KubeClient;
  readonly bridge: Started;
  readonly deployer: Started;
  /** Another deployer. */
  startDeployer(env?: Record<string, string>): Promise<Started>;
  /** The Pods of a function, as the API server lists them. */
  pods(name: string): Promise<readonly ListedPod[]>;
}

const podSchema = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
});
export type ListedPod = z.output<typeof podSchema>;
const listSchema = z.looseObject({ items: z.array(podSchema) });

/**
 * @param images what Pods may be of.
 * @param env of the deployer; of the bridge, what concerns their Leases.
 * @param starting what the world stands on.
 */
export async function startDeployedWorld(
  images: Images,
  env: Record<string, string> = {},
  starting: Promise<World> = startWorld(),
): Promise<DeployedWorld> {
  const world = await starting;
  const { cluster, folder } = world;
  await cluster.apply(namespaceNamed("drover"));
  await cluster.apply({ ...customResourceDefinition(ReconcileFunction) });
  await cluster.apply(registrationOfDeployer());
  const client = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test", log: silentLog });
  const node = await startNode({
    client,
    name: "local",
    images,
    folder: join(folder, "pods"),
    env: {
      KUBECONFIG: cluster.kubeconfig,
      ...compiled,
      PATH: process.env["PATH"] ?? "",
    },
  });
  // The admission policies let only these accounts write the status of a function.
  const asPart = async (part: string): Promise<Record<string, string>> =>
    env["DROVER_AUTHORS"] === "checked" ? { DROVER_KUBECONFIG: await kubeconfigOf(world, part) } : {};
  const bridge = await world.startBridge({
    functions: ofCluster,
    awaited: "; watching",
    env: {
      ...(await asPart("bridge")),
      ...(env["DROVER_PART_LEASE"] !== undefined && { DROVER_PART_LEASE: env["DROVER_PART_LEASE"] }),
    },
  });
  const deployerAccount = await asPart("deployer");
  const startDeployer = (more: Record<string, string> = {}) =>
    world.startProcess("deployer", "apps/deployer/src/main.ts", "Taking keys", {
      DROVER_AUTHORS: "trusted",
      DROVER_FUNCTION: "default/reconcilefunctions.drover.dev",
      ...deployerAccount,
      ...env,
      ...more,
    });
  const deployer = await startDeployer();
  return {
    ...world,
    client,
    bridge,
    deployer,
    startDeployer,
    async pods(name) {
      const selector = encodeURIComponent(`drover.dev/function=${name}`);
      const path = `/api/v1/namespaces/default/pods?labelSelector=${selector}`;
      return listSchema.parse(await cluster.read(path)).items;
    },
    async stop() {
      await deployer.stop();
      await node.stop();
      await client.close();
      await world.stop();
    },
  };
}

/** A deployed world with these kinds, for the tests of a file; it ends with the file. */
export async function deployedWorldOfFile(
  kinds: readonly Resource[],
  ...started: Parameters<typeof startDeployedWorld>
): Promise<DeployedWorld> {
  const world = await startDeployedWorld(...started);
  afterAll(() => world.stop());
  await world.define(...kinds);
  return world;
}

/** A kubeconfig of `drover/<part>`, an account that may do everything, on a real cluster. */
async function kubeconfigOf({ cluster }: World, part: string): Promise<string> {
  const metadata = { name: part, namespace: "drover" };
  await cluster.apply(core("ServiceAccount", part, {}, "drover"));
  await cluster.apply({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: `drover-${part}` },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", ...metadata }],
  });
  return cluster.kubeconfigOfAccount("drover", part);
}

/** The users of functions of a name in the namespace `default`. */
export const usersOf = async (world: World, name: string): Promise<readonly string[]> =>
  (await redisUsers(world.redis.url)).filter((user) => user.startsWith(`function:default/${name}/`));

/** SHA-256 of the passwords that a user of Redis has. */
export async function redisPasswords(world: World, user: string): Promise<readonly string[]> {
  const fields = z.array(z.unknown()).parse(await askAcl(world.redis.url, "GETUSER", user));
  return z.array(z.string()).parse(fields[fields.indexOf("passwords") + 1]);
}

const secretSchema = z.object({ data: z.object({ password: z.base64() }) });

/** The Redis password of a function, as its Pods mount it. */
export async function passwordOf(
  { cluster }: World,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<string> {
  const secret = await cluster.read(`/api/v1/namespaces/${namespace}/secrets/${name}-redis`);
  return Buffer.from(secretSchema.parse(secret).data.password, "base64").toString();
}
