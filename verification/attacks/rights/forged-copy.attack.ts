import { silentLog } from "@drover/controller";
import { connectRedis, disconnectRedis, openWorkQueue } from "@drover/queue";
import type { Attack } from "../attack.ts";
import { makeAuthor, everything, functionOf } from "./function-of.ts";

/** The queues in which the deployer's own may be. */
const deployersQueue = /^\{drover[^}]*reconcilefunctions\.drover\.dev[^}]*\}:control$/;

export const attack: Attack = {
  name: "the deployer grants nothing by what Redis says of a function",
  kind: "a decision is kept where a less trusted party writes",
  needs: ["cluster"],
  async run({ cluster }) {
    const installation = cluster();
    const { apply, judged, kubeconfigOf, kubectl, may, permitted, redis, redisUrlOf } = installation;
    const namespace = await installation.namespace("forged-copy");
    const mallory = { user: "mallory-copy" };
    await makeAuthor(installation, mallory, namespace);
    const as = await kubeconfigOf(mallory);
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
        annotations: { "drover.dev/author": "admin", "drover.dev/author-groups": "system:masters" },
      },
      spec: { ...object.spec, permissions: { cluster: everything } },
    };
    const control = (await redis.keys("*")).find((key) => deployersQueue.test(key)) ?? "";
    const queueName = control.replace(/^\{drover[^:]*:/, "").replace(/\}:control$/, "");
    // Once with what the gateway has, and once as Redis' administrator: the deployer must not depend on the password.
    const tries: string[] = [];
    for (const url of [redisUrlOf("gateway"), installation.redisUrlOfAdmin]) {
      tries.push(
        await forge(url, queueName, `${namespace}/innocent`, forged).catch((error: Error) => error.message),
      );
    }
    await kubectl(["annotate", "--overwrite", "rf", "innocent", "-n", namespace, "drover.dev/ask=again"], { as });
    const { reason } = await judged(namespace, "innocent");
    const succeeded = await may({ user: `system:serviceaccount:${namespace}:innocent` }, "*", "*");
    return { succeeded, evidence: `may do everything: ${succeeded}; ${reason}; ${tries.join("; ")}` };
  },
};

async function forge(
  url: string,
  controller: string,
  key: string,
  copy: { metadata: { uid: string; resourceVersion: string } },
): Promise<string> {
  const redis = await connectRedis({ url, clientName: "attacker", log: silentLog });
  const queue = openWorkQueue({ redis, controller, log: silentLog, mayScan: false });
  const { uid, resourceVersion } = copy.metadata;
  const kind = "reconcilefunctions.drover.dev";
  const gaveUp = Promise.withResolvers<string>();
  const timer = setTimeout(() => gaveUp.resolve("Redis did not take it within 5 s"), 5_000);
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
      queue.wake([wake]).then(() => "the queue took the forged copy"),
      gaveUp.promise,
    ]);
  } finally {
    clearTimeout(timer);
    await queue.close();
    await disconnectRedis(redis);
  }
}
