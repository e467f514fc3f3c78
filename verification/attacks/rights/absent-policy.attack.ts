import type { Attack } from "../attack.ts";
import { makeAuthor, everything, functionOf, untilNamed } from "./function-of.ts";

const bindings = [
  "delete",
  "validatingadmissionpolicybinding,mutatingadmissionpolicybinding",
  "drover-authors",
];
const policies = new URL("../../../apps/deployer/deploy/authors.yaml", import.meta.url).pathname;

export const attack: Attack = {
  name: "what was written while the admission policies were absent has no author",
  kind: "a decision is kept",
  needs: ["cluster"],
  async run({ cluster }) {
    const installation = cluster();
    const { apply, judged, kubeconfigOf, kubectl, may, until } = installation;
    const namespace = await installation.namespace("absent-policy");
    const mallory = { user: "mallory-absent" };
    await makeAuthor(installation, mallory, namespace);
    const as = await kubeconfigOf(mallory);
    await apply([functionOf(namespace, "honest")], { as });
    await judged(namespace, "honest");
    const annotation = (name: string, of: string) =>
      kubectl([
        "get",
        "rf",
        name,
        "-n",
        namespace,
        "-o",
        `jsonpath={.metadata.annotations.drover\\.dev/${of}}`,
      ]);
    const epoch = await annotation("honest", "author-epoch");
    const forged = {
      "drover.dev/author": "admin",
      "drover.dev/author-groups": "system:masters",
      "drover.dev/author-epoch": epoch,
    };
    const evil = () =>
      functionOf(
        namespace,
        "absent",
        { permissions: { cluster: everything }, container: { image: `evil:${Math.random()}` } },
        forged,
      );
    try {
      await kubectl(bindings);
      await until("the API server lets the forged author through", async () => {
        // Its two policies end one after another: the one that is left may still refuse.
        await apply([evil()], { as }).catch(() => undefined);
        return (await annotation("absent", "author").catch(() => "")) === "admin";
      });
    } finally {
      await kubectl(["apply", "-f", policies]);
    }
    const { reason, message } = await judged(namespace, "absent");
    const succeeded = await may({ user: `system:serviceaccount:${namespace}:absent` }, "*", "*");
    await untilNamed(installation, { namespace, user: mallory.user, as });
    return { succeeded, evidence: `may do everything: ${succeeded}; ${reason}: ${message}` };
  },
};
