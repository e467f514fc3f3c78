import { customResourceDefinition, objectKey, ReconcileFunction, webhookSecretOf } from "@drover/controller";
import { builtin, createOrReplace, installCrd, type KubeClient, refOf } from "@drover/kube";
import { freePort } from "@drover/local-servers";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startAsImage } from "../../bridge/contenders/start-as-image.ts";
import { bundle } from "../../../infra/bundle.ts";
import { declared, droverWith, type WorkingGround, type Workers } from "./drover.ts";
import { onCluster } from "./on-cluster.ts";

const copies = true;
const namespace = "default";
const { metadata, spec } = declared(copies);
const { name } = metadata;
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** The gateway takes the keys, and calls the function over HTTP, which has no way to Redis or to the API server. */
export const droverCalled = droverWith({
  // The gateway reads the ReconcileFunction in the cluster, and works on its queue.
  name: "Drover, called",
  copies,
  registeredBy: "cluster",
  async prepare() {
    const { file: gateway } = await bundle("gateway");
    const { file: fn } = await bundle("bench-gauge-called", "bench/peers/controllers/drover/called.ts");
    return (ground) => workersOn(ground, { gateway, fn });
  },
});

async function workersOn(
  ground: WorkingGround,
  { gateway, fn }: { readonly gateway: string; readonly fn: string },
): Promise<Workers> {
  const { kubeconfig, redisUrl, folder, workers, workMs } = ground;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const runsFile = join(folder, "function.runs");
  const secrets = join(folder, "secrets");
  await mkdir(secrets);
  await writeFile(join(secrets, "current"), secret, { mode: 0o600 });
  await onCluster(kubeconfig, (client) => declare(client, url, workers));
  const start = (id: string, main: string, env: NodeJS.ProcessEnv) =>
    startAsImage({ name: id, main, logFile: join(folder, `${id}.log`), env });
  return {
    start: () =>
      Promise.all([
        start("gateway", gateway, {
          DROVER_AUTHORS: "trusted",
          DROVER_KUBECONFIG: kubeconfig,
          DROVER_REDIS_URL: redisUrl,
          DROVER_WEBHOOK_ALLOW: url,
          DROVER_WEBHOOK_NETWORKS: "127.0.0.0/8",
        }),
        start("function", fn, {
          DROVER_HTTP_PORT: String(port),
          DROVER_WEBHOOK_SECRETS: secrets,
          DROVER_WEBHOOK_AUDIENCE: `${namespace}/${name}`,
          DROVER_WORK_MS: String(workMs),
          DROVER_RUNS_FILE: runsFile,
          DROVER_COPIES: String(copies),
        }),
      ]),
    runsFiles: [runsFile],
    close: () => onCluster(kubeconfig, withdraw),
  };
}

/** By its URL: no Service of a real API server has an address of this machine. */
async function declare(client: KubeClient, url: string, concurrency: number): Promise<void> {
  await installCrd(client, { ...customResourceDefinition(ReconcileFunction) });
  await createOrReplace(client, builtin.secret, {
    metadata: { name: webhookSecretOf(name), namespace },
    data: { current: Buffer.from(secret).toString("base64") },
  });
  // Its calls are answered for by its ServiceAccount, which the bench's own user may impersonate.
  await createOrReplace(client, builtin.clusterRoleBinding, {
    metadata: { name: `bench-${name}` },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", name, namespace }],
  });
  await createOrReplace(client, refOf(ReconcileFunction), {
    metadata: { name, namespace },
    spec: { ...spec, concurrency, delivery: "webhook", webhook: { url } },
  });
}

async function withdraw(client: KubeClient): Promise<void> {
  await client.delete(refOf(ReconcileFunction), objectKey({ namespace, name }));
  await client.delete(builtin.clusterRoleBinding, objectKey({ name: `bench-${name}` }));
  await client.delete(builtin.secret, objectKey({ namespace, name: webhookSecretOf(name) }));
}
