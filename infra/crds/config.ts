import { readSettings } from "@drover/runtime";
import { z } from "zod";

const crdsSettings = z.object({
  /** Left out: KUBECONFIG, or the pod's own ServiceAccount. */
  kubeconfig: z.string().optional(),
  /** Folders or YAML files, separated by commas. Objects in them that are no CRDs are passed over. */
  manifests: z
    .string()
    .transform((paths) => paths.split(","))
    .describe("Folders or YAML files"),
});

export const crdsConfig = () => readSettings(crdsSettings, process.env);
