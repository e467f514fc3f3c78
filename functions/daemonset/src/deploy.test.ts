import { functionManifestOf } from "@drover/controller";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import daemonSetFunction from "./function.ts";

// The file in deploy/ is written from the code: `npx vitest run functions/daemonset/src/deploy.test.ts --update`.
const written = "# Written from the code; see src/deploy.test.ts.\n";

it("deploy/function.yaml matches the function", async () => {
  await expect(
    written + stringify(functionManifestOf(daemonSetFunction), { lineWidth: 110 }),
  ).toMatchFileSnapshot("../deploy/function.yaml");
});
