import { secret } from "../../harness/manifests.ts";
import type { Attack } from "../attack.ts";
import { authorIn, functionOf } from "./function-of.ts";

export const attack: Attack = {
  name: "a hook is compared with no Secret that its author may not read",
  kind: "what is checked is not what is granted",
  needs: ["cluster"],
  async run({ cluster }) {
    const installation = cluster();
    const { apply, judged, kubectl } = installation;
    const { namespace, as } = await authorIn(installation, "hook-secret", { user: "mallory-hook" });
    await apply([secret("others", { key: "a-secret-of-others" }, namespace)]);
    const hook = {
      name: "guess",
      verify: { bearer: { secretRef: { name: "others", key: "key" } } },
      names: { field: "name", namespace },
    };
    await apply([functionOf(namespace, "guesser", { hooks: [hook] })], { as });
    const { status, reason, message } = await judged(namespace, "guesser");
    const uid = await installation.fieldOf(namespace, "guesser", ".metadata.uid");
    const permit = await kubectl(["get", "configmap", `permit-${uid}`, "-n", "drover"]).catch(() => "");
    const succeeded = reason !== "PermissionNotHeld" || permit !== "";
    return { succeeded, evidence: `${status} ${reason}: ${message}` };
  },
};
