import { programOf } from "../report/process-figures.ts";
import { controllersBeside, families } from "../../verification/workloads/families.ts";
import { startFunctions } from "../../verification/workloads/our-functions.ts";
import type { AuditEntry } from "../bridge/cluster/audited.ts";
import type { Stage } from "./stage.ts";

export const contestants = ["kube-controller-manager", "Drover", "Drover in one process"] as const;
export type Contestant = (typeof contestants)[number];

/** A contestant at work on the stage. */
export interface AtWork {
  /** Of everything that takes part, kube-controller-manager with what else it does included. */
  pids(): readonly number[];
  /** A request of the controllers that are compared. */
  readonly isTheirs: (request: AuditEntry) => boolean;
  stop(): Promise<void>;
}

export async function start(contestant: Contestant, { cluster }: Stage): Promise<AtWork> {
  const manager = () => pidsOf(cluster.pids(), "kube-controller");
  if (contestant === "kube-controller-manager") {
    await cluster.runControllers(["*"]);
    const accounts = [
      "deployment",
      "replicaset",
      "job",
      "ttl-after-finished",
      "endpointslice",
      "daemon-set",
    ].map((name) => `system:serviceaccount:kube-system:${name}-controller`);
    return {
      pids: manager,
      isTheirs: ({ user }) => accounts.includes(user.username),
      stop: () => cluster.stopControllers(),
    };
  }
  await cluster.runControllers(controllersBeside(...families));
  // With their usual settings.
  const functions = families.map((family) => ({ functions: family.functions }));
  const ours = await startFunctions(cluster, functions, {
    inOneProcess: contestant === "Drover in one process",
  });
  return {
    pids: () => [...manager(), ...ours.pids()],
    isTheirs: ({ userAgent }) => userAgent.startsWith("drover-"),
    async stop() {
      await ours.stop();
      await cluster.stopControllers();
    },
  };
}

/** Those of a program, by the begin of its name. */
export const pidsOf = (pids: readonly number[], program: string): readonly number[] =>
  pids.filter((pid) => programOf(pid).startsWith(program));
