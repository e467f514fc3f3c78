import type { Attack } from "../attack.ts";
import { accountOf, makeAuthor, everything, functionOf } from "./function-of.ts";

export const attack: Attack = {
  name: "a group name with a line break counts as one group",
  kind: "text becomes structure",
  needs: ["cluster"],
  async run({ cluster }) {
    const installation = cluster();
    const { apply, judged, kubeconfigOf, may } = installation;
    const namespace = await installation.namespace("joined-groups");
    const outcomes: string[] = [];
    for (const [index, group] of [
      "devs\nsystem:masters",
      "\nsystem:masters",
      "devs\\nsystem:masters",
    ].entries()) {
      const eve = { user: `eve-${index}`, groups: [group] };
      await makeAuthor(installation, eve, namespace);
      const as = await kubeconfigOf(eve);
      const name = `newline-${index}`;
      await apply([functionOf(namespace, name, { permissions: { cluster: everything } })], { as });
      const { reason } = await judged(namespace, name);
      const mayAll = await may(accountOf(namespace, name), "*", "*");
      if (mayAll)
        return {
          succeeded: true,
          evidence: `${JSON.stringify(group)}: its ServiceAccount may do everything`,
        };
      outcomes.push(`${JSON.stringify(group)}: ${reason}`);
    }
    return { succeeded: false, evidence: outcomes.join("; ") };
  },
};
