import { queueOf, type QueueName } from "@drover/controller";
import { noFaults, startFaultProxy } from "@drover/testing/fault-proxy";
import { redisUserRules } from "@drover/queue";
import { Redis } from "ioredis";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parse } from "yaml";
import { z } from "zod";
import { coreKind } from "../../harness/manifests.ts";
import { sandboxInFolder } from "../../harness/sandbox-in-folder.ts";
import { root } from "../../harness/repository-files.ts";
import { type Started, startProcess } from "../../harness/start-process.ts";

/** The shipped bridge on an API server and a Redis of this attack alone, with functions that nothing runs. */
export interface BridgeStage extends AsyncDisposable {
  /** As the administrator of Redis. */
  readonly admin: Redis;
  /** As the function of a queue: its own Redis user and no other. */
  readonly attacker: Redis;
  /** The hash of the attacker's queue that its user may write. */
  readonly control: string;
  startBridge(): Promise<{ readonly url: string }>;
  /** Creates an object in the namespace `default`. */
  create(path: string, body: object): Promise<void>;
  /** Creates a ConfigMap in the namespace `default`. */
  createMap(name: string): Promise<void>;
  /** How often the bridge has asked for all objects of a kind. */
  listings(plural: string): number;
  /** How often the queue of a function was woken for a key of `default`, as its ledger counts it. */
  wakes(of: string, name: string): Promise<number>;
  /** Resolves with true once the queue was woken for a key of `default`, or with false after so many seconds. */
  isWoken(of: string, name: string, seconds?: number): Promise<boolean>;
}

export interface StagedFunction {
  readonly name: string;
  readonly for: object;
}

export async function stageBridge(
  redisUrl: string,
  functions: readonly StagedFunction[],
  attackers: string,
): Promise<BridgeStage> {
  const stage = await sandboxInFolder();
  const { sandbox, folder, kubeconfig, post } = stage;
  // Between them, so that the bridge's requests are counted.
  const proxy = await startFaultProxy({
    upstream: { url: sandbox.url, token: sandbox.token },
    decider: noFaults,
  });
  writeFileSync(kubeconfig, proxy.kubeconfig(), { mode: 0o600 });
  await stage.define(definition());
  const queues = new Map<string, QueueName>();
  for (const { name, ...spec } of functions) queues.set(name, queueOf(await stage.register(name, spec)));
  const queue = queues.get(attackers) ?? "";
  const admin = new Redis(redisUrl);
  const user = "attacker";
  const rules = redisUserRules({ role: "function", controllers: [queue] }).split(" ");
  await admin.call("ACL", "SETUSER", user, ...rules, ">secret");
  const asAttacker = new URL(redisUrl);
  [asAttacker.username, asAttacker.password] = [user, "secret"];
  const attacker = new Redis(asAttacker.href);
  const started: Started[] = [];
  const wakes = async (of: string, name: string): Promise<number> =>
    Number((await admin.hget(`{drover:${queues.get(of)}}:key:default/${name}`, "wakes")) ?? 0);
  return {
    admin,
    attacker,
    control: `{drover:${queue}}:control`,
    async startBridge() {
      const child = await startProcess({
        name: "bridge",
        main: "apps/bridge/src/main.ts",
        logFile: join(folder, "bridge.log"),
        awaited: '"url":"http:',
        env: { DROVER_REDIS_URL: redisUrl, DROVER_KUBECONFIG: kubeconfig, DROVER_AUTHORS: "trusted" },
      });
      started.push(child);
      return child;
    },
    create: async (path, body) => {
      await post(path, body);
    },
    createMap: async (name) => {
      await post("/api/v1/namespaces/default/configmaps", { metadata: { name } });
    },
    listings: (plural) =>
      proxy.record.filter(
        ({ call: { verb, resource, query } }) =>
          resource === plural && (verb === "list" || query.includes("sendInitialEvents=true")),
      ).length,
    wakes,
    isWoken: (of, name, seconds = 15) => within(seconds, async () => (await wakes(of, name)) > 0),
    async [Symbol.asyncDispose]() {
      await Promise.all(started.map((child) => child.stop()));
      admin.disconnect();
      attacker.disconnect();
      await proxy.close();
      await stage[Symbol.asyncDispose]();
    },
  };
}

/** The kind of functions without patterns: what was stored before there were any is still there. */
function definition(): object {
  const file = readFileSync(join(root, "apps/bridge/deploy/crd.yaml"), "utf8");
  const plain: unknown = JSON.parse(JSON.stringify(parse(file)), (name, value: unknown) =>
    name === "pattern" ? undefined : value,
  );
  return z.looseObject({}).parse(plain);
}

/** The functions `evil` and `victim` follow ConfigMaps; the attacker has the queue of `evil`. */
export function stageVictim(redisUrl: string): Promise<BridgeStage> {
  const functions = ["evil", "victim"].map((name) => ({ name, for: coreKind("ConfigMap") }));
  return stageBridge(redisUrl, functions, "evil");
}

/** The same with a bridge that has woken both queues. */
export async function stageServedVictim(redisUrl: string): Promise<BridgeStage> {
  const stage = await stageVictim(redisUrl);
  await stage.startBridge();
  await stage.createMap("before");
  for (const queue of ["victim", "evil"])
    if (!(await stage.isWoken(queue, "before")))
      throw new Error(`The bridge did not wake ${queue} before the attack.`);
  return stage;
}

/** Resolves with true once `look` does, or with false after so many seconds. */
export async function within(seconds: number, look: () => Promise<boolean>): Promise<boolean> {
  const end = Date.now() + seconds * 1_000;
  while (Date.now() < end) {
    if (await look().catch(() => false)) return true;
    await delay(50);
  }
  return false;
}
