import { z } from "zod";
import { plain } from "./settings.ts";
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
});
export type PartSettings = z.output<typeof partSettings>;
