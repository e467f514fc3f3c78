import { messageOf } from "../message-of.ts";
import type { Attack } from "../attack.ts";
import { accountOf, authorIn, everything, functionOf } from "./function-of.ts";
import { withoutSchema } from "./stored-as.ts";

export const attack: Attack = {
  name: "an empty resourceNames is every name, also in a spec that is stored already",
  kind: "what is checked is not what is granted",
  needs: ["cluster"],
  async run({ cluster }) {
    const installation = cluster();
    const { apply, judged, may } = installation;
    const { namespace, as } = await authorIn(installation, "empty-names", { user: "mallory-names" });
    const rules = everything.map((rule) => ({ ...rule, resourceNames: [] }));
    const evil = functionOf(namespace, "evil", { permissions: { cluster: rules } });
    const refused = await apply([evil], { as }).then(() => undefined, messageOf);
    if (refused !== undefined) await withoutSchema(installation, () => apply([evil], { as }));
    const { reason, message } = await judged(namespace, "evil");
    const account = accountOf(namespace, "evil");
    const succeeded = await may(account, "*", "*");
    return { succeeded, evidence: `${account.user} may do everything: ${succeeded}; ${reason}: ${message}` };
  },
};
