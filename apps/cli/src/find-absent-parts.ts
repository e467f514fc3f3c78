import type { Milliseconds } from "@drover/controller";
import { isApiError, type KubeClient } from "@drover/kube";
import {
  absentConditionType,
  type AbsentPart,
  absenceMessage,
  leaseOf,
  type Part,
  readLease,
} from "@drover/runtime";
import { setTimeout as delay } from "node:timers/promises";
import type { DeployedFunction } from "./deployed-functions.ts";
import { conditionOf } from "./object-conditions.ts";

export interface FindAbsentPartsOptions {
  /** The namespace in which Drover is installed. */
  readonly namespace: string;
  readonly parts: readonly Part[];
  /** Waits for a time; tests replace it. */
  readonly wait?: (span: Milliseconds) => Promise<unknown>;
}

/** Pause between two reads of a Lease that seems old. */
const pollInterval: Milliseconds = 1_000;

/**
 * The parts of Drover that these functions need and that do not run, a sentence each. Read from the parts' Leases; if
 * the user may not read those, from the functions' conditions.
 */
export async function describeAbsentParts(
  client: KubeClient,
  functions: readonly DeployedFunction[],
  namespace: string,
): Promise<readonly string[]> {
  // An embedded function, with a bridge in its process, needs none of them.
  const deployed = functions.filter((one) => one.namespace !== "");
  if (deployed.length === 0) return [];
  const parts = allParts.filter(
    (part) => part !== "gateway" || deployed.some(({ spec }) => spec?.delivery === "webhook"),
  );
  const absent = await findAbsentParts(client, { namespace, parts });
  if (absent !== undefined) return absent.map(absenceMessage);
  const stated = deployed.flatMap(({ object }) =>
    parts.flatMap((part) => conditionOf(object, absentConditionType(part)) ?? []),
  );
  return [...new Set(stated.flatMap(({ status, message }) => (status === "True" ? [message] : [])))];
}

const allParts: readonly Part[] = ["bridge", "deployer", "gateway"];

/**
 * The parts of Drover without a running replica. A Lease with a recent time is accepted. One with another time is read
 * again until it changes, for as long as a renewal may take: this machine's clock may differ from the cluster's by
 * minutes.
 *
 * @returns undefined if the user may not read Leases in that namespace. Only the functions' conditions are available
 * then.
 */
export async function findAbsentParts(
  client: KubeClient,
  { namespace, parts, wait = delay }: FindAbsentPartsOptions,
): Promise<readonly AbsentPart[] | undefined> {
  const absent = async (part: Part): Promise<readonly AbsentPart[]> => {
    const first = await leaseOf(client, { namespace, part });
    if (first === undefined) return [{ part, namespace, since: undefined }];
    const { renewedAt: since, holds } = readLease(first);
    if (since !== undefined && Math.abs(Date.now() - Date.parse(since)) < holds) return [];
    const { resourceVersion } = first.metadata;
    for (let waited = 0; waited < holds / 4 + 2 * pollInterval; waited += pollInterval) {
      await wait(pollInterval);
      const next = await leaseOf(client, { namespace, part });
      if (next !== undefined && next.metadata.resourceVersion !== resourceVersion) return [];
    }
    return [{ part, namespace, since }];
  };
  try {
    return (await Promise.all(parts.map(absent))).flat();
  } catch (error) {
    if (isApiError(error, "Forbidden", "NotServed")) return undefined;
    throw error;
  }
}
