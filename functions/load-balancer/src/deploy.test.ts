import { customResourceDefinition, functionManifestOf } from "@drover/controller";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import loadBalancerFunction from "./function.ts";
import { LoadBalancer } from "./load-balancer.ts";

// The files in deploy/ are written from the code: `npx vitest run functions/load-balancer/src/deploy.test.ts --update`.
const written = "# Written from the code; see src/deploy.test.ts.\n";

it.each([
  ["crd.yaml", customResourceDefinition(LoadBalancer)],
  ["function.yaml", functionManifestOf(loadBalancerFunction)],
])("deploy/%s matches the code", async (file, manifest) => {
  await expect(written + stringify(manifest, { lineWidth: 110 })).toMatchFileSnapshot(`../deploy/${file}`);
});
