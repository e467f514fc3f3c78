import { existsSync } from "node:fs";
import { delimiter } from "node:path";
import { z } from "zod";

const environment = z.object({
  KUBECONFIG: z.string().default(""),
  /** Set in every container of a Pod. */
  KUBERNETES_SERVICE_HOST: z.string().default(""),
});

/**
 * The files of KUBECONFIG, for `connect`, which merges them as kubectl does. Undefined where it names none, or in a Pod none
 * that exists: then the Pod's ServiceAccount counts.
 * @param otherwise the files where KUBECONFIG is not set.
 */
export function usualKubeconfig(otherwise: readonly string[] = []): readonly string[] | undefined {
  const { KUBECONFIG: listed, KUBERNETES_SERVICE_HOST: pod } = environment.parse(process.env);
  const files = listed === "" ? otherwise : listed.split(delimiter).filter((path) => path !== "");
  if (files.length === 0) return undefined;
  return pod === "" || files.some((path) => existsSync(path)) ? files : undefined;
}
