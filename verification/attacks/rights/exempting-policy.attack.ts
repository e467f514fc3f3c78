import type { Attack } from "../attack.ts";
import { makeAuthor, everything, functionOf, untilNamed } from "./function-of.ts";

const policies = new URL("../../../apps/deployer/deploy/authors.yaml", import.meta.url).pathname;

export const attack: Attack = {
  name: "a policy that exempts a user guards nothing",
  kind: "what is checked is not what is granted",
  needs: ["cluster"],
  async run({ cluster }) {
    const installation = cluster();
    const { apply, kubeconfigOf, kubectl, may, until } = installation;
    const namespace = await installation.namespace("exempting");
    const mallory = { user: "mallory-exempt" };
    await makeAuthor(installation, mallory, namespace);
    const as = await kubeconfigOf(mallory);
    await kubectl(["delete", "mutatingadmissionpolicybinding", "drover-authors"]);
    const conditions = [
      { name: "not-mallory", expression: `request.userInfo.username != "${mallory.user}"` },
    ];
    const patch = JSON.stringify({ spec: { matchConditions: conditions } });
    await kubectl(["patch", "validatingadmissionpolicy", "drover-authors", "--type=merge", "-p", patch]);
    const epoch = await kubectl(["get", "authorepochs", "authors", "-o", "jsonpath={.spec.epoch}"]).catch(
      () => "",
    );
    const forged = {
      "drover.dev/author": "admin",
      "drover.dev/author-groups": "system:masters",
      "drover.dev/author-epoch": epoch,
    };
    const evil = () => {
      const container = { image: `evil:${Math.random()}` };
      return functionOf(namespace, "exempt", { permissions: { cluster: everything }, container }, forged);
    };
    const author = "jsonpath={.metadata.annotations.drover\\.dev/author}";
    await until("the API server exempts her", async () => {
      await apply([evil()], { as }).catch(() => undefined);
      return (
        (await kubectl(["get", "rf", "exempt", "-n", namespace, "-o", author]).catch(() => "")) === "admin"
      );
    });
    const account = { user: `system:serviceaccount:${namespace}:exempt` };
    const reason = `jsonpath={.status.conditions[?(@.type=="Ready")].reason}`;
    const ready = await until("the deployer has judged it", async () => {
      const now = await kubectl(["get", "rf", "exempt", "-n", namespace, "-o", reason]);
      return (
        now !== "" && now !== "PermissionNotHeld" && now !== "AuthorUnknown" && now !== "Deploying" && now
      );
    });
    const succeeded = await may(account, "*", "*");
    await kubectl(["delete", "rf", "exempt", "-n", namespace, "--wait=false"]);
    const restored = JSON.stringify([{ op: "remove", path: "/spec/matchConditions" }]);
    await kubectl(["patch", "validatingadmissionpolicy", "drover-authors", "--type=json", "-p", restored]);
    await kubectl(["apply", "-f", policies]);
    await untilNamed(installation, { namespace, user: mallory.user, as });
    return { succeeded, evidence: `may do everything: ${succeeded}; ${ready}` };
  },
};
