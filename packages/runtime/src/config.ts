import { existsSync } from "node:fs";
import { delimiter } from "node:path";
import { z } from "zod";

const environment = z.object({ KUBECONFIG: z.string().default("") });

/** The first file of KUBECONFIG that there is: what every tool of Kubernetes uses, unless it is told another one. */
export const usualKubeconfig = (): string | undefined =>
  environment
    .parse(process.env)
    .KUBECONFIG.split(delimiter)
    .find((file) => file !== "" && existsSync(file));
