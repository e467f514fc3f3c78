import { defineController, functionManifestOf } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import { exampleKind } from "../../harness/example-kind.ts";
import { type Attack, outcomeOf } from "../attack.ts";
import { accountOf, functionOf, authorIn } from "./function-of.ts";

const Page = exampleKind("Page");

export const attack: Attack = {
  name: "owning a kind grants nothing that the author does not hold",
  kind: "what is checked is not what is granted",
  needs: ["cluster"],
  async run({ cluster }) {
    const installation = cluster();
    const { apply, grant, judged, may } = installation;
    const mallory = { user: "mallory-owned" };
    const { namespace, as } = await authorIn(installation, "owned-kinds", mallory);
    // Enough to follow the kind, and for no change of it.
    await grant(mallory, [{ apiGroups: [""], resources: ["secrets"], verbs: ["list", "watch"] }]);
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
      // Owned kinds give no permissions without review.
      silent: { owns },
    };
    const found: string[] = [];
    for (const [name, spec] of Object.entries(made)) {
      await apply([functionOf(namespace, name, spec)], { as });
      const { reason } = await judged(namespace, name);
      const account = accountOf(namespace, name);
      for (const verb of ["get", "create", "delete"])
        if (await may(account, verb, "secrets")) found.push(`${name} may ${verb} secrets (${reason})`);
      if (name === "asked" && reason === "Deployed") found.push(`${name}: ${reason}`);
    }
    if (secrets.length === 0) found.push("nothing was derived from owns, so nothing was tried");
    return outcomeOf(found, "neither may do anything with Secrets");
  },
};
