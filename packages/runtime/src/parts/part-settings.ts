import { z } from "zod";
import { nonSecret, durationInMs } from "../process/settings.ts";
import { namespaceName, tenantsFile } from "../tenants/tenants-file.ts";

/**
 * Settings of bridge, deployer and gateway in addition to those of every process. All three must have the same values.
 */
export const partSettings = z.object({
  /**
   * A YAML file that assigns a Redis to namespaces. Default: all namespaces use the Redis of the process. It is read at
   * the start: changes take effect when the process is started again.
   */
  tenantsFile: tenantsFile.default([]),
  /**
   * `checked`: functions get what their authors are permitted. `trusted`: functions get whatever their specs request,
   * for a cluster with one author.
   */
  authors: nonSecret(z.enum(["checked", "trusted"]).default("checked")),
  /** The namespace of the deployer, which contains the permits. A user that may write there can act as the deployer. */
  namespace: nonSecret(namespaceName.default("drover")),
  /**
   * Duration of the Leases of bridge, deployer and gateway, which are renewed four times in that time. If a Lease is
   * not renewed for so long, functions get a condition that reports this.
   */
  partLease: nonSecret(durationInMs.default(40_000)),
});
export type PartSettings = z.output<typeof partSettings>;
