import { type Condition, type Milliseconds, objectKey, timestamp } from "@drover/controller";
import { builtin, type KubeClient, type KubeObject } from "@drover/kube";
import { z } from "zod";
import type { Part, PartLeaseOptions } from "./part-lease.ts";
import { pause } from "./pause.ts";

/** A part of which no replica runs. */
export interface AbsentPart {
  readonly part: Part;
  readonly namespace: string;
  /** RFC 3339, when its Lease was renewed last, by the clock of the replica that did; undefined: it never was. */
  readonly since: string | undefined;
}

const leaseSchema = z.looseObject({
  spec: z.looseObject({
    renewTime: z.iso.datetime({ offset: true }).optional().catch(undefined),
    leaseDurationSeconds: z.int().min(1).optional().catch(undefined),
  }),
});

/** When a Lease was renewed last, as it says, and how long it holds. */
export function readLease(lease: KubeObject | undefined): {
  renewedAt: string | undefined;
  holds: Milliseconds;
} {
  const { renewTime, leaseDurationSeconds = 40 } = leaseSchema.safeParse(lease).data?.spec ?? {};
  const renewedAt = renewTime === undefined ? undefined : timestamp(new Date(renewTime));
  return { renewedAt, holds: leaseDurationSeconds * 1_000 };
}

/**
 * Judges the Lease of a part by whether it changes, and not by the times in it: the clocks of two machines may differ by
 * minutes. (client-go's leader election does the same.) What cannot be read says nothing, and the count begins anew.
 */
export function leaseJudge() {
  let version: string | undefined;
  /** When it was seen to change last. */
  let changedAt: Milliseconds | undefined;
  let absent: { readonly since: string | undefined } | undefined;
  let looked = false;
  let runs = false;
  return {
    /** Whether it was seen to be renewed, and has not been absent since. */
    runs: () => runs,
    /** @param lease undefined where there is none. @returns since when no replica runs, or undefined. */
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
    /** It could not be read. */
    missed(now: Milliseconds): void {
      changedAt = now;
    },
  };
}

export interface AbsentPartsOptions extends Omit<PartLeaseOptions, "part"> {
  readonly parts: readonly Part[];
  /** Called when a part has come or gone. */
  readonly onChange?: () => void;
}

/** The parts of which no replica runs; none of them before they were watched for as long as a Lease holds. */
export interface AbsentParts {
  readonly all: () => readonly AbsentPart[];
  /** Whether a replica runs: for some time after the start it is neither known that one does nor that none does. */
  readonly runs: (part: Part) => boolean;
  /** Resolves when the signal has ended it. */
  readonly done: Promise<void>;
}

/** Watches the Leases of parts. */
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
        "A part of Drover came or went, as its Lease shows",
      );
      onChange?.();
    }
  };
  const watching = async (): Promise<void> => {
    while (!signal.aborted) {
      await Promise.all(judges.map(look));
      await pause(holds / 4, signal);
    }
  };
  return {
    all: () => [...absent.values()],
    runs: (part) => judges.some((one) => one.part === part && one.judge.runs()),
    done: watching(),
  };
}

/** The Lease of a part; undefined where there is none. */
export const leaseOf = (
  client: KubeClient,
  { namespace, part, signal }: { namespace: string; part: Part; signal?: AbortSignal },
): Promise<KubeObject | undefined> =>
  client.get(builtin.lease, objectKey({ namespace, name: part }), signal === undefined ? {} : { signal });

/** What a function lacks while a part does not run. */
const consequences: Readonly<Record<Part, string>> = {
  bridge: "changes of objects start no runs",
  deployer: "changes of functions, and of how many Pods they need, have no effect",
  gateway: "functions that are called over HTTP are not called",
};

/** The type of the condition that a ReconcileFunction has for as long as no replica of a part runs. */
export const absentCondition = (part: Part): string => `${part[0]?.toUpperCase()}${part.slice(1)}NotRunning`;

/** That no replica of a part runs, since when, and what to look at. */
export const absentWords = ({ part, namespace, since }: AbsentPart): string =>
  `No ${part} ${since === undefined ? "has ever run" : `has run since ${since}`}: ${consequences[part]}. ` +
  `See: kubectl get pods -n ${namespace}`;

/** The same as a condition. */
export const absentAsCondition = (absent: AbsentPart): Condition => ({
  type: absentCondition(absent.part),
  status: "True",
  reason: "LeaseNotRenewed",
  message: absentWords(absent),
});
