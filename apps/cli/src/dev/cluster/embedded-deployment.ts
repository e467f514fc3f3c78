import { type ObjectKey, objectKey } from "@drover/controller";
import { exactYaml } from "@drover/json";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

const deploymentSchema = z.looseObject({
  kind: z.literal("Deployment"),
  metadata: z.looseObject({ name: z.string().min(1), namespace: z.string().min(1).default("default") }),
});

/**
 * The Deployment in `deploy/embedded.yaml` of a function's folder: a deployed function with a bridge in its process has no
 * ReconcileFunction by which it could be found. Undefined if there is none.
 */
export function embeddedDeployment(folder: string): ObjectKey | undefined {
  const file = join(folder, "deploy/embedded.yaml");
  if (!existsSync(file)) return undefined;
  const documents = parseAllDocuments(readFileSync(file, "utf8"), exactYaml.options);
  const [deployment] = documents.flatMap(
    (document) => deploymentSchema.safeParse(document.toJS(exactYaml)).data ?? [],
  );
  return deployment && objectKey(deployment.metadata);
}
