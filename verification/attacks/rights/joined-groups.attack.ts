import { type Attack, outcomeOf } from "../attack.ts";
import { accountOf, makeAuthor, everything, functionOf } from "./function-of.ts";

export const attack: Attack = {
  name: "a group name with a line break counts as one group",
  kind: "text becomes structure",
  needs: ["cluster"],
  async run({ cluster }) {
    const installation = cluster();
    const { apply, judged, kubeconfigOf, may } = installation;
    const namespace = await installation.namespace("joined-groups");
    const [gained, reasons]: [string[], string[]] = [[], []];
    const groups = ["devs\nsystem:masters", "\nsystem:masters", "devs\\nsystem:masters"];
    for (const [index, group] of groups.entries()) {
      const eve = { user: `eve-${index}`, groups: [group] };
      await makeAuthor(installation, eve, namespace);
      const as = await kubeconfigOf(eve);
      const name = `newline-${index}`;
      await apply([functionOf(namespace, name, { permissions: { cluster: everything } })], { as });
      const { reason } = await judged(namespace, name);
      const mayAll = await may(accountOf(namespace, name), "*", "*");
      if (mayAll) gained.push(`${JSON.stringify(group)}: its ServiceAccount may do everything`);
      reasons.push(`${JSON.stringify(group)}: ${reason}`);
    }
    return outcomeOf(gained, reasons.join("; "));
  },
};
