import { customResourceDefinition, type FunctionIdentity, ReconcileFunction } from "@drover/controller";
import { freePort, type RedisServer, startRedis } from "@drover/local-servers";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { core, kindRef, object, secret } from "../../verification/harness/manifests.ts";
import { type SandboxInFolder, sandboxInFolder } from "../../verification/harness/sandbox-in-folder.ts";
import { startProcess } from "../../verification/harness/start-process.ts";
import { Noop } from "./noop.ts";

/** Real Redis, the sandbox, and the processes of both ways, each idle until its keys are woken. */
export interface Stage {
  readonly redis: RedisServer;
  /** The ReconcileFunction that is called. */
  readonly push: FunctionIdentity;
  readonly pids: Readonly<Record<"pull" | "gateway" | "push", number>>;
  stop(): Promise<void>;
}

export async function setStage(objects: number): Promise<Stage> {
  const [redis, sandbox] = await Promise.all([startRedis({ persistence: false }), sandboxInFolder()]);
  const { folder, kubeconfig } = sandbox;
  const port = await freePort();
  const identity = await fill(sandbox, objects, port);
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
    push: identity,
    pids: { pull: pull.pid, gateway: gateway.pid, push: push.pid },
    async stop() {
      await Promise.all(started.map((child) => child.stop()));
      await redis.stop();
      await sandbox[Symbol.asyncDispose]();
    },
  };
}

/** The kinds, the function that is called with what it needs, and the objects. */
async function fill(
  { folder, define, post, register }: SandboxInFolder,
  objects: number,
  port: number,
): Promise<FunctionIdentity> {
  const current = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;
  mkdirSync(join(folder, "secrets"));
  writeFileSync(join(folder, "secrets/current"), current, { mode: 0o600 });
  for (const kind of [Noop, ReconcileFunction]) await define(customResourceDefinition(kind));
  const inDefault = "namespaces/default";
  await post(`/api/v1/${inDefault}/secrets`, secret("push-webhook", { current }));
  const spec = { clusterIP: "127.0.0.1", ports: [{ port }] };
  await post(`/api/v1/${inDefault}/services`, core("Service", "push", { spec }));
  const noops = `/apis/${Noop.apiVersion}/${inDefault}/${Noop.plural}`;
  for (let i = 0; i < objects; i++) await post(noops, object(Noop, `noop-${i}`, {}));
  return register("push", {
    for: kindRef(Noop),
    delivery: "webhook",
    webhook: { service: { name: "push", port } },
  });
}
