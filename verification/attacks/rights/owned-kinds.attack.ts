import { defineController, defineResource, functionManifestOf } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import { z } from "zod";
import type { Attack } from "../attack.ts";
import { functionOf, makeAuthor } from "./function-of.ts";

const Page = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Page",
  scope: "Namespaced",
  spec: z.object({}),
  status: z.object({}),
});

export const attack: Attack = {
  name: "owning a kind grants nothing that the author does not hold",
  kind: "what is checked is not what is granted",
  needs: ["cluster"],
  async run({ cluster }) {
    const installation = cluster();
    const { apply, grant, judged, kubeconfigOf, may } = installation;
    const namespace = await installation.namespace("owned-kinds");
    const mallory = { user: "mallory-owned" };
    await makeAuthor(installation, mallory, namespace);
    // Enough to follow the kind, and for no change of it.
    await grant(mallory, [{ apiGroups: [""], resources: ["secrets"], verbs: ["list", "watch"] }]);
    const as = await kubeconfigOf(mallory);
    const controller = defineController({
      for: Page,
      owns: [{ kind: kindOf(builtin.secret) }],
      reconcile: () => Promise.resolve(undefined),
    });
    const deployment = { container: { image: "registry.example.com/evil:1" } };
    const { owns, permissions = {} } = functionManifestOf({ controller, deployment }).spec;
    const secrets = permissions.cluster?.filter(({ resources }) => resources.includes("secrets")) ?? [];
    const made = {
      asked: { owns, permissions: { cluster: secrets } },
      // What is owned is not derived behind the review's back.
      silent: { owns },
    };
    const found: string[] = [];
    for (const [name, spec] of Object.entries(made)) {
      await apply([functionOf(namespace, name, spec)], { as });
      const { reason } = await judged(namespace, name);
      const account = { user: `system:serviceaccount:${namespace}:${name}` };
      for (const verb of ["get", "create", "delete"])
        if (await may(account, verb, "secrets")) found.push(`${name} may ${verb} secrets (${reason})`);
      if (name === "asked" && reason === "Deployed") found.push(`${name}: ${reason}`);
    }
    if (secrets.length === 0) found.push("nothing was derived from owns, so nothing was tried");
    return {
      succeeded: found.length > 0,
      evidence: found.join("; ") || "neither may do anything with Secrets",
    };
  },
};
