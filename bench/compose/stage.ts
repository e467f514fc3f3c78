import { customResourceDefinition, ReconcileFunction } from "@drover/controller";
import { installCrd } from "@drover/kube";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { inParallel } from "../bridge/cluster/api.ts";
import { type Audited, startAudited } from "../bridge/cluster/audited.ts";
import { install, type Key } from "../bridge/cluster/numbered-kind.ts";
import { untilStreamed } from "../bridge/cluster/population.ts";
import { onCluster } from "../peers/peers/on-cluster.ts";
import { isTheirs } from "../peers/measured.ts";
import { auditPolicy, untilQuiet } from "../workloads/audit-log.ts";
import { type Judge, openJudge } from "./judge.ts";
import { childKinds, site, sites } from "./sites.ts";

/** An API server, and the tools that measure the contestant that works on it. */
export interface Stage extends Audited<RealCluster> {
  readonly judge: Judge;
  create(keys: readonly Key[]): Promise<void>;
  /** Changes a field of each parent: one of its children is to be changed. */
  change(keys: readonly Key[], turn: number): Promise<void>;
  /** Changes an annotation of each parent: nothing is to be changed. */
  touch(keys: readonly Key[]): Promise<void>;
  /** Deletes all parents and children, and waits until the contestant has no more to do. */
  clear(): Promise<void>;
}

/** Requests of the benchmark at once. */
const atOnce = 64;

export async function setStage(log: (line: string) => void): Promise<Stage> {
  const audited = await startAudited(auditPolicy, (apiServerArgs) =>
    startRealCluster({ apiServerArgs, log }),
  );
  const { api, cluster } = audited;
  await onCluster(cluster.kubeconfig, async (client) => {
    await installCrd(client, { ...customResourceDefinition(ReconcileFunction) });
  });
  await install(api, sites);
  await untilStreamed(api, sites.collection);
  const judge = openJudge(api);
  const forEach = (keys: readonly Key[], send: (key: Key) => Promise<unknown>): Promise<void> =>
    inParallel(keys.length, atOnce, (i) => send(keys[i] ?? ""));
  const patch = (keys: readonly Key[], content: object): Promise<void> =>
    forEach(keys, (key) =>
      api.send("PATCH", sites.pathOf(key), { type: "application/merge-patch+json", content }),
    );
  let touched = 0;
  return {
    ...audited,
    judge,
    create: (keys) =>
      forEach(keys, (key) =>
        api.send("POST", sites.createPath(key), { type: "application/json", content: site(key) }),
      ),
    change: (keys, turn) => patch(keys, { spec: { turn } }),
    touch: (keys) => patch(keys, { metadata: { annotations: { touched: String(++touched) } } }),
    async clear() {
      const remove = (path: string): Promise<unknown> => api.send("DELETE", path);
      for (const namespace of sites.namespaces) await remove(sites.collectionIn(namespace));
      // A reconcile that has begun before would create children again.
      await untilQuiet(audited.audit, isTheirs);
      for (const namespace of sites.namespaces)
        for (const { in: pathIn } of childKinds) await remove(pathIn(namespace));
      await judge.none();
      await untilQuiet(audited.audit, isTheirs);
    },
    async stop() {
      judge.stop();
      await audited.stop();
    },
  };
}
