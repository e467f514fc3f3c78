import { isAborted, sleepUnlessAborted } from "@drover/timers";
import { type Log, type Milliseconds, objectKey } from "@drover/controller";
import { builtin, isApiError, type KubeClient } from "@drover/kube";
import { hostname } from "node:os";

/** The parts of Drover. Each may have several replicas. */
export type Part = "bridge" | "deployer" | "gateway";

export interface PartLeaseOptions {
  readonly client: KubeClient;
  /** The namespace of the deployer. */
  readonly namespace: string;
  readonly part: Part;
  /** The version of Drover that the process is of, for `drover doctor`. */
  readonly version: string;
  /** Duration of the Lease. It is renewed four times in that time, as a node's Lease is. */
  readonly holds: Milliseconds;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** The holder of a Lease: the host and the version of the replica. A Pod has no underscore in its name. */
export const leaseHolder = (version: string): string => `${hostname()}_${version}`;

/**
 * Renews the Lease named after the part (`coordination.k8s.io/v1`) until the signal fires, so that other processes can
 * see that a replica of it runs. The Lease elects no leader: all replicas write the same one in turns.
 */
export async function keepPartLease({ client, log, ...lease }: PartLeaseOptions): Promise<void> {
  const { namespace, part, holds, signal } = lease;
  let failed = false;
  while (!signal.aborted) {
    try {
      await renew(client, lease);
      failed = false;
    } catch (error) {
      if (!failed && !isAborted(signal)) {
        const words = `Could not renew the Lease ${namespace}/${part}: functions will be reported to have no ${part}`;
        log.warn({ err: error }, words);
      }
      failed = true;
    }
    await sleepUnlessAborted(holds / 4, signal);
  }
}

async function renew(
  client: KubeClient,
  { namespace, part, version, holds, signal }: Omit<PartLeaseOptions, "client" | "log">,
): Promise<void> {
  const spec = {
    holderIdentity: leaseHolder(version),
    leaseDurationSeconds: Math.max(1, Math.ceil(holds / 1_000)),
    // A MicroTime.
    renewTime: new Date().toISOString().replace("Z", "000Z"),
  };
  const key = objectKey({ namespace, name: part });
  try {
    await client.patch(builtin.lease, key, { type: "merge", body: { spec } }, { signal });
  } catch (error) {
    if (!isApiError(error, "NotFound")) throw error;
    await client.create(builtin.lease, { metadata: { namespace, name: part }, spec }, { signal });
  }
}
