import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { inParallel } from "../../bridge/cluster/api.ts";
import { untilStreamed } from "../../bridge/cluster/population.ts";
import { type Audited, startAudited } from "../../bridge/cluster/audited.ts";
import { auditPolicy } from "../../workloads/audit-log.ts";
import { install, type Key } from "../../bridge/cluster/numbered-kind.ts";
import { gauge, gauges } from "./gauges.ts";
import { type Judge, openJudge } from "./judge.ts";

/** An API server, and the tools that measure the peer that works on it. */
export interface Stage extends Omit<Audited<RealCluster>, "api"> {
  readonly judge: Judge;
  /** So many Gauges, of turn 0. */
  populate(count: number): Promise<readonly Key[]>;
  /** Asks for another turn. */
  change(key: Key, turn: number): Promise<unknown>;
  /** Asks for what fails whenever it is tried. */
  spoil(key: Key): Promise<unknown>;
  /** Deletes all Gauges. */
  clear(): Promise<void>;
}

/** Requests of the bench under way at once. */
export const atOnce = 64;

export async function setStage(log: (line: string) => void): Promise<Stage> {
  const { api, ...audited } = await startAudited(auditPolicy, (apiServerArgs) =>
    startRealCluster({ apiServerArgs, log }),
  );
  await install(api, gauges);
  await untilStreamed(api, gauges.collection);
  const judge = openJudge(api);
  const patch = (key: Key, spec: object): Promise<string> =>
    api.send("PATCH", gauges.pathOf(key), {
      type: "application/merge-patch+json",
      content: { spec },
    });
  return {
    ...audited,
    judge,
    async populate(count) {
      await inParallel(count, atOnce, (i) =>
        api.send("POST", gauges.createPath(gauges.keyOf(i)), {
          type: "application/json",
          content: gauge(gauges.keyOf(i)),
        }),
      );
      return Array.from({ length: count }, (_, i) => gauges.keyOf(i));
    },
    change: (key, turn) => patch(key, { turn }),
    spoil: (key) => patch(key, { fails: true }),
    async clear() {
      for (const namespace of gauges.namespaces) await api.send("DELETE", gauges.collectionIn(namespace));
      await judge.none();
    },
    async stop() {
      judge.stop();
      await audited.stop();
    },
  };
}
