import { messageOf } from "../message-of.ts";
import { objectKey, ReconcileFunction } from "@drover/controller";
import { connect, refOf } from "@drover/kube";
import type { Attack } from "../attack.ts";
import { accountOf, authorIn, everything, functionOf } from "./function-of.ts";

export const attack: Attack = {
  name: "the status of a function permits nothing, not even when the bridge writes it",
  kind: "a decision is kept where a less trusted party writes",
  needs: ["cluster"],
  async run({ cluster }) {
    const installation = cluster();
    const { apply, grant, judged, kubeconfigOfAccount, kubectl, may } = installation;
    const nora = { user: "nora" };
    const { namespace, as } = await authorIn(installation, "forged-status", nora);
    await grant(nora, everything, namespace);
    await apply([functionOf(namespace, "forged", { permissions: { cluster: everything } })], { as });
    await judged(namespace, "forged");
    const asked = { asked: "35FGkyYpmsd7QB85", followed: "x", called: "x" };
    const patch = JSON.stringify({
      status: { permitted: asked, delivered: "pull", rollout: { revision: 1, template: "x" } },
    });
    const forge = (kubeconfig: string) =>
      kubectl(
        ["patch", "rf", "forged", "-n", namespace, "--subresource=status", "--type=merge", "-p", patch],
        { as: kubeconfig },
      ).then(
        () => "written",
        (error: unknown) => `refused: ${messageOf(error).split("\n").at(-2) ?? ""}`,
      );
    const byNora = await forge(as);
    // kubectl reads before it patches, which the bridge may not.
    const bridge = await connect({ kubeconfig: await kubeconfigOfAccount("drover", "bridge") });
    const patched = { type: "merge", body: JSON.parse(patch) as object } as const;
    const byBridge = await bridge
      .patch(refOf(ReconcileFunction), objectKey({ namespace, name: "forged" }), patched, {
        subresource: "status",
      })
      .then(
        () => "written",
        (error: unknown) => `refused: ${messageOf(error)}`,
      );
    await bridge.close();
    // A permit of her own making, where she may write.
    const uid = await installation.fieldOf(namespace, "forged", ".metadata.uid");
    const data = { uid, function: `${namespace}/forged`, author: "{}", accesses: "[]", ...asked };
    const metadata = { name: `permit-${uid}`, namespace, labels: { "drover.dev/permit": "true" } };
    await apply([{ apiVersion: "v1", kind: "ConfigMap", metadata, data }], { as });
    await kubectl(["annotate", "rf", "forged", "-n", namespace, "poke=1"], { as });
    await kubectl(["annotate", "rf", "forged", "-n", namespace, "drover.dev/ask=again"], { as });
    const { reason } = await judged(namespace, "forged");
    const account = accountOf(namespace, "forged");
    const succeeded = await may(account, "*", "*");
    return {
      succeeded,
      evidence: `may do everything: ${succeeded}; ${reason}; nora: ${byNora}; bridge: ${byBridge}`,
    };
  },
};
