import { existsSync } from "node:fs";
import { delimiter } from "node:path";
import { z } from "zod";

const environment = z.object({
  KUBECONFIG: z.string().default(""),
  /** Set in every container of a Pod. */
  KUBERNETES_SERVICE_HOST: z.string().default(""),
});

/**
 * The files that KUBECONFIG lists, for `connect`, which merges them as kubectl does. Undefined if it lists none, or if
 * in a Pod none of them exists: then the Pod's ServiceAccount is used.
 * @param otherwise the files to use if KUBECONFIG is not set.
 */
export function defaultKubeconfig(otherwise: readonly string[] = []): readonly string[] | undefined {
  const { KUBECONFIG: listed, KUBERNETES_SERVICE_HOST: pod } = environment.parse(process.env);
  const files = listed === "" ? otherwise : listed.split(delimiter).filter((path) => path !== "");
  if (files.length === 0) return undefined;
  return pod === "" || files.some((path) => existsSync(path)) ? files : undefined;
}
