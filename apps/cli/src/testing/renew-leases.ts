import { builtin, type KubeClient } from "@drover/kube";
import { leaseHolder, type Part } from "@drover/runtime";
import { version } from "../package/version.ts";

/** Creates Leases as running parts of Drover renew them, in the namespace `drover`. */
export async function renewLeases(client: KubeClient, ...parts: readonly Part[]): Promise<void> {
  const renewTime = new Date().toISOString().replace("Z", "000Z");
  for (const name of parts)
    await client.create(builtin.lease, {
      metadata: { namespace: "drover", name },
      spec: { holderIdentity: leaseHolder(version), leaseDurationSeconds: 300, renewTime },
    });
}
