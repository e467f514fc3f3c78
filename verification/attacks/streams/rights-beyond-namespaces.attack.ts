import { coreKind } from "../../harness/manifests.ts";
import { type Attack, outcomeOf } from "../attack.ts";
import { everything, functionOf } from "../rights/function-of.ts";

const bridge = { user: "system:serviceaccount:drover:bridge" };
// No other function of an installation follows them: the deployer itself follows Secrets everywhere.
const kind = coreKind("ResourceQuota");

export const attack: Attack = {
  name: "a function of one namespace gives the bridge no rights in another",
  kind: "what is checked is not what is granted",
  needs: ["cluster"],
  async run({ cluster }) {
    const at = cluster();
    const [mine, next] = [await at.namespace("nora"), await at.namespace("nora-next")];
    const nora = { user: "nora-of-one-namespace" };
    for (const one of [mine, next]) await at.grant(nora, everything, one);
    const as = await at.kubeconfigOf(nora);
    const follow = (namespaces: readonly string[]) =>
      at.apply([functionOf(mine, "armed", { for: { ...kind, namespaces }, container: undefined })], { as });
    const seen: string[] = [];
    const everywhere = async (when: string): Promise<void> => {
      for (const verb of ["list", "watch"])
        if (await at.may(bridge, verb, "resourcequotas"))
          seen.push(`${verb} resourcequotas in all namespaces, ${when}`);
      if (await at.may(bridge, "list", "resourcequotas", "kube-system"))
        seen.push(`list resourcequotas in kube-system, ${when}`);
    };
    const holds = (where: string, expected: boolean) =>
      at
        .until(`the bridge ${expected ? "may" : "may not"} list ResourceQuotas in ${where}`, async () =>
          (await at.may(bridge, "list", "resourcequotas", where)) === expected ? true : undefined,
        )
        .catch(() => {
          seen.push(`${expected ? "no" : "still a"} right in ${where}`);
        });
    await follow([mine]);
    await at.judged(mine, "armed");
    await holds(mine, true);
    await everywhere("while it names its own");
    await follow([next]);
    await holds(next, true);
    await holds(mine, false);
    await everywhere("while it names another of hers");
    await at.kubectl(["delete", "reconcilefunction", "armed", "-n", mine, "--timeout=60s"], { as });
    await holds(next, false);
    await everywhere("when it is gone");
    return outcomeOf(seen, "rights in the named namespaces alone, and none after");
  },
};
