import { customResourceDefinition, ReconcileFunction, webhookSecretOf } from "@drover/controller";
import { builtin, createOrReplace, installCrd, type KubeClient, refOf, kindOf } from "@drover/kube";
import { killAll, startRedis, thisMachine, type TiedProcess } from "@drover/local-servers";
import { join } from "node:path";
import { startProcess } from "../../harness/start-process.ts";
import { childKinds } from "../histories/actions.ts";
import { type Contestant, type ContestantOptions, installParents, methodOf } from "./contestant.ts";
import { droverFunction } from "./hook-server.ts";

/** Drover's bridge and gateway, with a persistent Redis. The gateway calls a function. */
export const openDrover = (options: ContestantOptions): Promise<Contestant> =>
  open(options, { url: options.hooks.origin, composes: true });

/** The same, and the gateway calls the hook of Metacontroller. */
export const openDroverWithHook = (options: ContestantOptions): Promise<Contestant> =>
  open(options, {
    url: options.hooks.secureOrigin,
    metacontroller: {
      controller: "Composite",
      sync: "/metacontroller",
      updates: Object.values(childKinds).map(({ group, kind }) => ({ group, kind, method: methodOf(kind) })),
    },
  });

async function open(
  { kubeconfig, client, hooks, folder }: ContestantOptions,
  webhook: { readonly url: string; readonly [field: string]: unknown },
): Promise<Contestant> {
  const parents = await installParents(client, "drover");
  await declare(client, parents, webhook);
  const redis = await startRedis({ persistence: true });
  let running: readonly TiedProcess[] = [];
  const run = (name: string, env: NodeJS.ProcessEnv): Promise<TiedProcess> =>
    startProcess({
      name,
      main: `apps/${name}/src/main.ts`,
      // Calls are signed, and this process verifies them.
      machine: thisMachine,
      logFile: join(folder, `${name}.log`),
      env: {
        DROVER_KUBECONFIG: kubeconfig,
        DROVER_REDIS_URL: redis.url,
        DROVER_AUTHORS: "trusted",
        ...env,
      },
    });
  return {
    name: "Drover",
    parents,
    async start() {
      running = await Promise.all([
        run("bridge", {}),
        run("gateway", {
          DROVER_WEBHOOK_ALLOW: webhook.url,
          NODE_EXTRA_CA_CERTS: hooks.certificateFile,
          DROVER_WEBHOOK_NETWORKS: "127.0.0.0/8",
          DROVER_LEASE: "2s",
          DROVER_LEASE_RENEWAL: "500ms",
        }),
      ]);
    },
    kill: () => killAll(running),
    async stop() {
      await Promise.all(running.map((child) => child.stop()));
      await redis.stop();
    },
  };
}

async function declare(client: KubeClient, parents: Contestant["parents"], webhook: object): Promise<void> {
  const { namespace, name, secret } = droverFunction;
  await installCrd(client, { ...customResourceDefinition(ReconcileFunction) });
  await createOrReplace(client, builtin.secret, {
    metadata: { name: webhookSecretOf(name), namespace },
    data: { current: Buffer.from(secret).toString("base64") },
  });
  // The gateway acts as the function's ServiceAccount.
  await createOrReplace(client, builtin.clusterRoleBinding, {
    metadata: { name: `test-${name}` },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", name, namespace }],
  });
  const owns = Object.values(childKinds).map((ref) => ({
    ...kindOf(ref),
    // Secrets are never cached.
    ...(ref.kind !== "Secret" && { copies: true }),
  }));
  await createOrReplace(client, refOf(ReconcileFunction), {
    metadata: { name, namespace },
    spec: {
      for: kindOf(parents),
      owns,
      copies: true,
      concurrency: 16,
      // A wake ends a wait after a failure early only once: see settle-4 in docs/work-queue.md.
      retry: { first: "100ms", longest: "1s" },
      delivery: "webhook",
      webhook,
    },
  });
}
