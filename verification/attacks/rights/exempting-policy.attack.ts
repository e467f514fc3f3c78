import type { Attack } from "../attack.ts";
import { forgeAuthor, whileUnguarded } from "./forged-author.ts";
import { accountOf, authorIn, untilNamed } from "./function-of.ts";

const unjudged = ["", "PermissionNotHeld", "AuthorUnknown", "Deploying"];

export const attack: Attack = {
  name: "a policy that exempts a user does not count as a guard",
  kind: "what is checked is not what is granted",
  needs: ["cluster"],
  async run({ cluster }) {
    const installation = cluster();
    const { fieldOf, kubectl, may, until } = installation;
    const mallory = { user: "mallory-exempt" };
    const { namespace, as } = await authorIn(installation, "exempting", mallory);
    const exempt = async () => {
      await kubectl(["delete", "mutatingadmissionpolicybinding", "drover-authors"]);
      const expression = `request.userInfo.username != "${mallory.user}"`;
      const spec = { matchConditions: [{ name: "not-mallory", expression }] };
      const patch = ["--type=merge", "-p", JSON.stringify({ spec })];
      await kubectl(["patch", "validatingadmissionpolicy", "drover-authors", ...patch]);
    };
    const [ready, succeeded] = await whileUnguarded(installation, exempt, async () => {
      const authorEpoch = ["get", "authorepochs", "authors", "-o", "jsonpath={.spec.epoch}"];
      const epoch = await kubectl(authorEpoch).catch(() => "");
      await forgeAuthor(installation, { namespace, name: "exempt", as, epoch });
      const reason = `.status.conditions[?(@.type=="Ready")].reason`;
      const judgment = await until("the deployer has judged the function", async () => {
        const now = await fieldOf(namespace, "exempt", reason);
        return !unjudged.includes(now) && now;
      });
      const mayAll = await may(accountOf(namespace, "exempt"), "*", "*");
      await kubectl(["delete", "rf", "exempt", "-n", namespace, "--wait=false"]);
      return [judgment, mayAll] as const;
    });
    await untilNamed(installation, { namespace, user: mallory.user, as });
    return { succeeded, evidence: `may do everything: ${succeeded}; ${ready}` };
  },
};
