import { grantedPermissions } from "@drover/controller";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { z } from "zod";
import { controllers } from "./controllers.ts";
import { manifestsOf } from "./manifests.ts";

// The file in deploy/ is written from the code: `npx vitest run apps/controller-manager/src/deploy.test.ts --update`.
const intro = `# Written from the code; see src/deploy.test.ts.
#
# Runs the functions that replace controllers of kube-controller-manager, in one process: docs/workload-controllers.md. Set the
# image and the address of Redis to yours. The Secret has the password of the Redis user \`controller-manager\`; the ConfigMap
# \`redis-ca\` has, as \`ca.crt\`, the certificate of the authority of Redis' certificate.
`;

const manifests = manifestsOf(controllers);

it("deploy/controller-manager.yaml matches the code", async () => {
  const documents = manifests.map((one) => stringify(one, { lineWidth: 110 }));
  await expect(intro + documents.join("---\n")).toMatchFileSnapshot("../deploy/controller-manager.yaml");
});

const bound = z.object({ kind: z.string(), metadata: z.object({ name: z.string() }), rules: z.unknown() });
const roles = manifests.flatMap((one) => bound.safeParse(one).data ?? []);

it("the account of each function has the permissions of the function, and no others", () => {
  const granted = roles.filter(({ kind }) => kind === "ClusterRole");
  expect(granted.map(({ metadata, rules }) => [metadata.name, rules])).toEqual(
    controllers.map((one) => [
      `workload-controllers:${one.controller.name}`,
      grantedPermissions(one).cluster,
    ]),
  );
});

it("the process may only act as these accounts, and read these ReconcileFunctions", () => {
  const names = controllers.map(({ controller }) => controller.name);
  const own = roles.filter(({ kind, rules }) => kind === "Role" && rules !== undefined);
  expect(own.map(({ rules }) => rules)).toEqual([
    [
      { apiGroups: [""], resources: ["serviceaccounts"], resourceNames: names, verbs: ["impersonate"] },
      {
        apiGroups: ["drover.dev"],
        resources: ["reconcilefunctions"],
        resourceNames: names,
        verbs: ["get"],
      },
    ],
  ]);
});
