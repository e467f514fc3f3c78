import { userAgent as harness } from "../bridge/cluster/api.ts";
import { cpuSince } from "../report/process-figures.ts";
import type { AuditEntry } from "../bridge/cluster/audited.ts";
import { countedByWhat, untilQuiet } from "../workloads/audit-log.ts";
import { type Leg, medianLegs } from "./legs.ts";
import type { Stage } from "./cluster/stage.ts";
import type { AtWork, Contestant } from "./peers/peer.ts";

export const steps = [
  "cold start",
  "burst",
  "restart",
  "reaction",
  "crash",
  "slow work",
  "reaction beside failures",
] as const;
export type Step = (typeof steps)[number];

/** What a step came to with one of the contestants. */
export interface Figures {
  readonly step: Step;
  /** ms, by what was timed. */
  readonly times: Readonly<Record<string, number>>;
  /** By what they asked for. */
  readonly requests: Readonly<Record<string, number>>;
  /** CPU seconds until all is quiet, by process; the API server's with etcd's. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Of the reaction only. */
  readonly legs?: ReadonlyMap<Leg, number>;
}

export const servers = "API server";

/** A request of the peer: neither the bench's nor the API server's own. */
export const isTheirs = ({ userAgent }: AuditEntry): boolean =>
  userAgent !== harness && !userAgent.startsWith("kube-apiserver/");

/** A peer at work, and the means to measure the cost of a step. */
export interface Turn {
  readonly stage: Stage;
  readonly contestant: Contestant;
}

/** @param work resolves with the timings and the peer at work. */
export async function measured(
  { stage: { audit, cluster }, contestant: { beside } }: Turn,
  step: Step,
  atWork: AtWork | undefined,
  work: () => Promise<{ readonly times: Figures["times"]; readonly atWork: AtWork }>,
): Promise<Figures & { readonly atWork: AtWork }> {
  const serving = cluster.pids();
  const taken = cpuSince([...serving, ...Object.values(beside), ...Object.values(atWork?.pids ?? {})]);
  const mark = await audit.mark();
  const done = await work();
  await untilQuiet(audit, isTheirs);
  const entries = await audit.since(mark);
  const named = Object.entries({ ...done.atWork.pids, ...beside });
  const cpu = {
    ...Object.fromEntries(named.map(([name, pid]) => [name, taken(pid)])),
    [servers]: serving.reduce((sum, pid) => sum + taken(pid), 0),
  };
  return {
    step,
    ...done,
    cpu,
    requests: countedByWhat(entries, isTheirs),
    ...(step === "reaction" && { legs: medianLegs(entries) }),
  };
}

/** Waits until the API server has had no request for a while. */
export const quiet = ({ audit }: Stage): Promise<void> => untilQuiet(audit, isTheirs);
