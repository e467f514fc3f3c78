import { messageOf } from "../message-of.ts";
import { Redis } from "ioredis";
import { setTimeout as delay } from "node:timers/promises";
import { objectKey, silentLog } from "@drover/controller";
import { builtin } from "@drover/kube";
import { connectRedis, disconnectRedis, openWorkQueue, type WorkQueue } from "@drover/queue";
import type { Attack } from "../attack.ts";
import type { Installation } from "../installation.ts";
import { authorIn, everything, functionOf } from "./function-of.ts";

/** The queues in which the deployer's own may be. */
const deployersQueue = /^\{drover[^}]*reconcilefunctions\.drover\.dev[^}]*\}:control$/;

export const attack: Attack = {
  name: "the deployer grants no permission because of a forged object in Redis",
  kind: "a decision is kept where a less trusted party writes",
  needs: ["cluster"],
  slow: true,
  async run({ cluster }) {
    const installation = cluster();
    const { apply, kubectl, permitted, redis, redisUrlOf } = installation;
    const { namespace, as } = await authorIn(installation, "forged-copy", { user: "mallory-copy" });
    await apply([functionOf(namespace, "innocent")], { as });
    await permitted(namespace, "innocent", as);
    const object = JSON.parse(await kubectl(["get", "rf", "innocent", "-n", namespace, "-o", "json"])) as {
      metadata: { uid: string; resourceVersion: string };
      spec: object;
    };
    const forged = {
      ...object,
      metadata: {
        ...object.metadata,
        // Newer than all that the queue knows of.
        resourceVersion: String(Number(object.metadata.resourceVersion) + 1_000_000),
        annotations: { "drover.dev/author": "admin", "drover.dev/author-groups": "system:masters" },
      },
      spec: { ...object.spec, permissions: { cluster: everything } },
    };
    const control = (await redis.keys("*")).find((key) => deployersQueue.test(key)) ?? "";
    const queueName = control.replace(/^\{drover[^:]*:/, "").replace(/\}:control$/, "");
    // Once with what the gateway has, and once as Redis' administrator: the deployer must not depend on the password.
    // A later run that reads live takes away what was granted: it is looked for all the time.
    const looking = new AbortController();
    const granted = lookFor(installation, `drover:${namespace}:innocent`, looking.signal);
    const tries: string[] = [];
    const prefix = control.replace(/:control$/, "");
    const entry = `${prefix}:key:${namespace}/innocent`;
    for (const url of [redisUrlOf("gateway"), installation.redisUrlOfAdmin]) {
      // As a run leaves it that has seen the object in this incarnation of Redis: then a copy is believed.
      await mark(url, entry, (await redis.hget(control, "incarnation")) ?? "");
      tries.push(await forge(url, queueName, `${namespace}/innocent`, forged).catch(messageOf));
    }
    looking.abort();
    const succeeded = await granted;
    return { succeeded, evidence: `a ClusterRole was made: ${succeeded}; ${tries.join("; ")}` };
  },
};

async function forge(
  url: string,
  controller: string,
  key: string,
  copy: { metadata: { uid: string; resourceVersion: string } },
): Promise<string> {
  const redis = await connectRedis({ url, clientName: "attacker", log: silentLog, loadsScripts: false });
  const queue = openWorkQueue({ redis, controller, log: silentLog, upkeep: "own" });
  const { uid, resourceVersion } = copy.metadata;
  const kind = "reconcilefunctions.drover.dev";
  const gaveUp = Promise.withResolvers<string>();
  const timer = setTimeout(
    () => gaveUp.resolve("Redis did not take it, or no run followed, within 10 s"),
    10_000,
  );
  try {
    const wake = {
      key: key as never,
      kind,
      resourceVersion,
      uid,
      reason: "Modified",
      class: "change",
      copy: JSON.stringify(copy),
    } as const;
    return await Promise.race([
      queue
        .wake([wake])
        .then(() => ran(queue, key))
        .then(() => "the deployer ran the key"),
      gaveUp.promise,
    ]);
  } finally {
    clearTimeout(timer);
    await queue.close();
    await disconnectRedis(redis);
  }
}

/** Resolves with true if a ClusterRole exists at any time before the signal fires. */
async function lookFor({ admin }: Installation, name: string, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    if ((await admin.get(builtin.clusterRole, objectKey({ name }))) !== undefined) return true;
    await delay(20);
  }
  return false;
}

/** Resolves when the key is at rest: a run has answered its wake. */
async function ran(queue: WorkQueue, key: string): Promise<void> {
  for (;;) {
    const { state } = (await queue.inspect(key as never)).key;
    if (state === "idle" || state === "waits" || state === "parked") return;
    await delay(100);
  }
}

async function mark(url: string, entry: string, incarnation: string): Promise<void> {
  const connection = new Redis(url);
  await connection.hset(entry, "observedIn", incarnation).catch(() => undefined);
  connection.disconnect();
}
