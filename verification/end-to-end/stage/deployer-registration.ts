import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import { type Manifest, withMetadata } from "../../harness/manifests.ts";

const file = new URL("../../../apps/deployer/deploy/function.yaml", import.meta.url);
const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
});

/** What registers the deployer, as it is installed. */
export function registrationOfDeployer(): Manifest {
  const text = readFileSync(file, "utf8");
  return withMetadata(manifestSchema.parse(parse(text)), { namespace: "default" });
}
