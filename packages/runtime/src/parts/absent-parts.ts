import { sleepUnlessAborted } from "@drover/timers";
import { type Condition, type Milliseconds, objectKey, timestamp } from "@drover/controller";
import { builtin, type KubeClient, type KubeObject } from "@drover/kube";
import { z } from "zod";
import type { Part, PartLeaseOptions } from "./part-lease.ts";

/** A part of Drover without a running replica. */
export interface AbsentPart {
  readonly part: Part;
  readonly namespace: string;
  /** Last renewal of its Lease (RFC 3339), by the clock of the replica that renewed it; undefined: never renewed. */
  readonly since: string | undefined;
}

const leaseSchema = z.looseObject({
  spec: z.looseObject({
    holderIdentity: z.string().optional().catch(undefined),
    renewTime: z.iso.datetime({ offset: true }).optional().catch(undefined),
    leaseDurationSeconds: z.int().min(1).optional().catch(undefined),
  }),
});

/** Last renewal of a Lease (RFC 3339; undefined without a Lease or a valid time), and its duration (default: 40 s). */
export function readLease(lease: KubeObject | undefined): {
  renewedAt: string | undefined;
  holds: Milliseconds;
} {
  const { renewTime, leaseDurationSeconds = 40 } = leaseSchema.safeParse(lease).data?.spec ?? {};
  const renewedAt = renewTime === undefined ? undefined : timestamp(new Date(renewTime));
  return { renewedAt, holds: leaseDurationSeconds * 1_000 };
}

/**
 * Decides from its Lease if a part runs: the Lease counts as renewed when its version changes. The timestamps in it are
 * not compared, because the clocks of two machines may differ by minutes. (client-go's leader election does the same.)
 * A Lease that cannot be read proves nothing: the wait for a renewal starts again.
 */
export function leaseJudge() {
  let version: string | undefined;
  /** Time of the last observed change, or of the last failed read. */
  let changedAt: Milliseconds | undefined;
  let absent: { readonly since: string | undefined } | undefined;
  let looked = false;
  let runs = false;
  return {
    /** True if a renewal was observed, and the part has not been absent since. */
    runs: () => runs,
    /**
     * @param lease undefined if it does not exist.
     * @returns the last renewal if no replica runs; undefined if one runs, or while this is not known yet.
     */
    look(lease: KubeObject | undefined, now: Milliseconds): typeof absent {
      const next = lease?.metadata.resourceVersion;
      if (changedAt === undefined || next !== version) {
        runs = looked && lease !== undefined;
        absent = undefined;
        changedAt = now;
      }
      looked = true;
      version = next;
      const { renewedAt: since, holds } = readLease(lease);
      if (now - changedAt > holds) {
        absent = { since };
        runs = false;
      }
      return absent;
    },
    /** Records that the Lease could not be read. */
    missed(now: Milliseconds): void {
      changedAt = now;
    },
  };
}

export interface AbsentPartsOptions extends Omit<PartLeaseOptions, "part" | "version"> {
  readonly parts: readonly Part[];
  /** Called when a part has become absent or has returned. */
  readonly onChange?: () => void;
}

/** The parts without a running replica. A part is listed only after it was watched for as long as a Lease holds. */
export interface AbsentParts {
  readonly all: () => readonly AbsentPart[];
  /** True if a replica is known to run. For some time after the start, neither this nor the absence is known. */
  readonly runs: (part: Part) => boolean;
  /** Resolves after the signal has ended the watch. */
  readonly done: Promise<void>;
}

/** Watches parts: reads the Lease of each one four times in the time that a Lease holds. */
export function watchParts({
  client,
  namespace,
  parts,
  holds,
  log,
  signal,
  onChange,
}: AbsentPartsOptions): AbsentParts {
  const judges = parts.map((part) => ({ part, judge: leaseJudge() }));
  const absent = new Map<Part, AbsentPart>();
  const look = async ({ part, judge }: (typeof judges)[number]): Promise<void> => {
    const before = absent.has(part);
    try {
      const lease = await leaseOf(client, { namespace, part, signal });
      const found = judge.look(lease, performance.now());
      if (found === undefined) absent.delete(part);
      else absent.set(part, { part, namespace, ...found });
    } catch (error) {
      judge.missed(performance.now());
      if (!signal.aborted) log.warn({ err: error }, `Could not read the Lease ${namespace}/${part}`);
    }
    if (before !== absent.has(part)) {
      log.info(
        { part, runs: before, ...absent.get(part) },
        "A part of Drover has started or stopped, according to its Lease",
      );
      onChange?.();
    }
  };
  const watching = async (): Promise<void> => {
    while (!signal.aborted) {
      await Promise.all(judges.map(look));
      await sleepUnlessAborted(holds / 4, signal);
    }
  };
  return {
    all: () => [...absent.values()],
    runs: (part) => judges.some((one) => one.part === part && one.judge.runs()),
    done: watching(),
  };
}

/** The version of the replica that renewed the Lease last; undefined if it is of a version that does not state it. */
export const versionOf = (lease: KubeObject): string | undefined =>
  leaseSchema.safeParse(lease).data?.spec.holderIdentity?.split("_")[1];

/** The Lease of a part; undefined if it does not exist. */
export const leaseOf = (
  client: KubeClient,
  { namespace, part, signal }: { namespace: string; part: Part; signal?: AbortSignal },
): Promise<KubeObject | undefined> =>
  client.get(builtin.lease, objectKey({ namespace, name: part }), signal === undefined ? {} : { signal });

/** The effect on functions while a part does not run. */
const consequences: Readonly<Record<Part, string>> = {
  bridge: "changes of objects start no runs",
  deployer: "changes of functions, and of how many Pods they need, have no effect",
  gateway: "functions that are called over HTTP are not called",
};

/** The type of the condition that a ReconcileFunction has while no replica of a part runs. */
export const absentConditionType = (part: Part): string =>
  `${part[0]?.toUpperCase()}${part.slice(1)}NotRunning`;

/** A message for users: the part, since when no replica runs, the effect, and a command to look at it. */
export const absenceMessage = ({ part, namespace, since }: AbsentPart): string =>
  `No ${part} ${since === undefined ? "has ever run" : `has run since ${since}`}: ${consequences[part]}. ` +
  `See: kubectl get pods -n ${namespace}`;

/** `absenceMessage` as a condition. */
export const absenceCondition = (absent: AbsentPart): Condition => ({
  type: absentConditionType(absent.part),
  status: "True",
  reason: "LeaseNotRenewed",
  message: absenceMessage(absent),
});
