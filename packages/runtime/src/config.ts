import { existsSync } from "node:fs";
import { delimiter } from "node:path";
import { z } from "zod";

const environment = z.object({ KUBECONFIG: z.string().default("") });

/**
 * The first file of KUBECONFIG that there is: what every tool of Kubernetes uses, unless it is told another one.
 * @param otherwise where it is looked for when KUBECONFIG names none.
 */
export function usualKubeconfig(otherwise: readonly string[] = []): string | undefined {
  const named = environment
    .parse(process.env)
    .KUBECONFIG.split(delimiter)
    .filter((path) => path !== "");
  return (named.length > 0 ? named : otherwise).find((path) => existsSync(path));
}
