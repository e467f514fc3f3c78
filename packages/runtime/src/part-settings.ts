import { z } from "zod";
import { plain, span } from "./settings.ts";
import { namespaceName, tenantsFile } from "./tenants-file.ts";

/** The settings of bridge, deployer and gateway beside those of every process. All three must be given the same. */
export const partSettings = z.object({
  /**
   * A YAML file: which namespaces have which Redis. Left out: all have that of the process. It is read at the start: another
   * file takes effect when the process is started again.
   */
  tenantsFile: tenantsFile.default([]),
  /**
   * `checked`: functions do what their authors are permitted. `trusted`: whatever their specs say, for a cluster with one
   * author.
   */
  authors: plain(z.enum(["checked", "trusted"]).default("checked")),
  /** The namespace of the deployer, where permits are. A user who may write there can act as the deployer. */
  namespace: plain(namespaceName.default("drover")),
  /**
   * How long the Lease of bridge, deployer or gateway holds, which is renewed four times in that time. Without a renewal for
   * so long, functions have a condition that says that it does not run.
   */
  partLease: plain(span.default(40_000)),
});
export type PartSettings = z.output<typeof partSettings>;
