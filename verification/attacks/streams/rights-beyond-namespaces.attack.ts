import type { Attack } from "./attack.ts";

const bridge = { user: "system:serviceaccount:drover:bridge" };
const kind = { group: "", version: "v1", kind: "Secret", plural: "secrets", scope: "Namespaced" };

export const attack: Attack = {
  name: "a function of one namespace gives the bridge no rights in another",
  kind: "what is checked is not what is granted",
  needs: ["cluster"],
  async run({ cluster }) {
    const { apply, grant, judged, kubeconfigOf, kubectl, may, namespace, until } = cluster();
    const [mine, next] = [await namespace("nora"), await namespace("nora-next")];
    const nora = { user: "nora-of-one-namespace" };
    for (const one of [mine, next])
      await grant(nora, [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }], one);
    const as = await kubeconfigOf(nora);
    const follow = (namespaces: readonly string[]) =>
      apply(
        [
          {
            ...{ apiVersion: "drover.dev/v1alpha1", kind: "ReconcileFunction" },
            metadata: { name: "armed", namespace: mine },
            spec: { for: { ...kind, namespaces } },
          },
        ],
        { as },
      );
    const seen: string[] = [];
    const everywhere = async (when: string): Promise<void> => {
      for (const verb of ["list", "watch"])
        if (await may(bridge, verb, "secrets")) seen.push(`${verb} secrets in all namespaces, ${when}`);
      if (await may(bridge, "list", "secrets", "kube-system"))
        seen.push(`list secrets in kube-system, ${when}`);
    };
    const holds = (where: string, expected: boolean) =>
      until(`the bridge ${expected ? "may" : "may not"} list Secrets in ${where}`, async () =>
        (await may(bridge, "list", "secrets", where)) === expected ? true : undefined,
      ).catch(() => {
        seen.push(`${expected ? "no" : "still a"} right in ${where}`);
      });
    await follow([mine]);
    await judged(mine, "armed");
    await holds(mine, true);
    await everywhere("while it names its own");
    await follow([next]);
    await holds(next, true);
    await holds(mine, false);
    await everywhere("while it names another of hers");
    await kubectl(["delete", "reconcilefunction", "armed", "-n", mine, "--timeout=60s"], { as });
    await holds(next, false);
    await everywhere("when it is gone");
    return {
      succeeded: seen.length > 0,
      evidence: seen.join("; ") || "rights in the named namespaces alone, and none after",
    };
  },
};
