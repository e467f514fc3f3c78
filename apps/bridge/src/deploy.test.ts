import { customResourceDefinition, ReconcileFunction } from "@drover/controller";
import { expect, it } from "vitest";
import { stringify } from "yaml";

// Written from the code: `npx vitest run apps/bridge/src/deploy.test.ts --update`.
it("deploy/crd.yaml matches the schema of ReconcileFunction", async () => {
  const text = stringify(customResourceDefinition(ReconcileFunction), { lineWidth: 110 });
  await expect(`# Written from the code; see src/deploy.test.ts.\n${text}`).toMatchFileSnapshot(
    "../deploy/crd.yaml",
  );
});
