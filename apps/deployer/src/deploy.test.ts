import { expect, it } from "vitest";
import { stringify } from "yaml";
import { installedPolicies } from "./permits/author-policies.ts";
import { deployerRegistration } from "./setup/register-deployer.ts";

const header = "# Written from the code; see src/deploy.test.ts.\n";

// Written from the code: `npx vitest run apps/deployer/src/deploy.test.ts --update`.
it("deploy/function.yaml registers the controller of functions", async () => {
  const text = header + stringify(deployerRegistration(), { lineWidth: 110 });
  await expect(text).toMatchFileSnapshot("../deploy/function.yaml");
});

it("deploy/authors.yaml has the admission policies that name the author of a function", async () => {
  const text = installedPolicies("drover")
    .map((one) => stringify(one, { lineWidth: 110 }))
    .join("---\n");
  await expect(header + text).toMatchFileSnapshot("../deploy/authors.yaml");
});
