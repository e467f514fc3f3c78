import { customResourceDefinition, ReconcileFunction } from "@drover/controller";
import { builtin, connect, installCrd, type KubeClient, refOf } from "@drover/kube";
import { freePort, type RedisServer, startRedis, type TiedProcess } from "@drover/local-servers";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProcess } from "../../verification/harness/start-process.ts";
import { Noop } from "./noop.ts";

/** Real Redis, the sandbox, and the processes of both ways, each idle until its keys are woken. */
export interface Stage {
  readonly redis: RedisServer;
  /** Of the ReconcileFunction that is called. */
  readonly pushUid: string;
  readonly pids: Readonly<Record<"pull" | "gateway" | "push", number>>;
  stop(): Promise<void>;
}

export async function setStage(objects: number): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "drover-bench-push-"));
  const [redis, sandbox] = await Promise.all([startRedis({ persistence: false }), startSandbox({})]);
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, sandbox.kubeconfig(), { mode: 0o600 });
  const port = await freePort();
  const pushUid = await fill(kubeconfig, objects, port, folder);
  const start = (name: string, main: string, awaited: string, env: NodeJS.ProcessEnv) =>
    startProcess({
      name,
      main,
      awaited,
      logFile: join(folder, `${name}.log`),
      env: { DROVER_LOG_LEVEL: "info", ...env },
    });
  const taking = { DROVER_REDIS_URL: redis.url, DROVER_KUBECONFIG: kubeconfig };
  const started = await Promise.all([
    start("pull", "bench/push/pull.ts", "Taking keys", taking),
    start("gateway", "apps/gateway/src/main.ts", "Taking keys", {
      ...taking,
      DROVER_WEBHOOK_NETWORKS: "127.0.0.0/8",
      DROVER_AUTHORS: "trusted",
    }),
    start("push", "bench/push/push.ts", "Answering calls", {
      DROVER_HTTP_PORT: String(port),
      DROVER_WEBHOOK_AUDIENCE: "default/push",
      DROVER_WEBHOOK_SECRETS: join(folder, "secrets"),
    }),
  ]);
  const [pull, gateway, push] = started;
  return {
    redis,
    pushUid,
    pids: { pull: pull.pid, gateway: gateway.pid, push: push.pid },
    stop: () => takeDown(started, redis, sandbox, folder),
  };
}

async function fill(kubeconfig: string, objects: number, port: number, folder: string): Promise<string> {
  const secret = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;
  mkdirSync(join(folder, "secrets"));
  writeFileSync(join(folder, "secrets/current"), secret, { mode: 0o600 });
  const client: KubeClient = await connect({ kubeconfig });
  await installCrd(client, { ...customResourceDefinition(Noop) });
  await installCrd(client, { ...customResourceDefinition(ReconcileFunction) });
  const at = (name: string) => ({ metadata: { name, namespace: "default" } });
  await client.create(builtin.secret, {
    ...at("push-webhook"),
    data: { current: Buffer.from(secret).toString("base64") },
  });
  await client.create(builtin.service, {
    ...at("push"),
    spec: { clusterIP: "127.0.0.1", ports: [{ port }] },
  });
  const { group, version, kind, plural, scope } = Noop;
  const push = await client.create(refOf(ReconcileFunction), {
    ...at("push"),
    spec: {
      for: { group, version, kind, plural, scope },
      delivery: "webhook",
      webhook: { service: { name: "push", port } },
    },
  });
  for (let i = 0; i < objects; i++) await client.create(refOf(Noop), { ...at(`noop-${i}`), spec: {} });
  await client.close();
  return push.metadata.uid;
}

async function takeDown(
  started: readonly TiedProcess[],
  redis: RedisServer,
  sandbox: Sandbox,
  folder: string,
): Promise<void> {
  await Promise.all(started.map((child) => child.stop()));
  await Promise.all([redis.stop(), sandbox.close()]);
  rmSync(folder, { recursive: true });
}
