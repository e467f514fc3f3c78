import type { Attack } from "../attack.ts";
import { forgeAuthor, whileUnguarded } from "./forged-author.ts";
import { accountOf, functionOf, authorIn, untilNamed } from "./function-of.ts";

const bindings = "validatingadmissionpolicybinding,mutatingadmissionpolicybinding";

export const attack: Attack = {
  name: "a function written while the admission policies were absent has no author",
  kind: "a decision is kept",
  needs: ["cluster"],
  async run({ cluster }) {
    const installation = cluster();
    const { apply, judged, kubectl, may } = installation;
    const mallory = { user: "mallory-absent" };
    const { namespace, as } = await authorIn(installation, "absent-policy", mallory);
    await apply([functionOf(namespace, "honest")], { as });
    await judged(namespace, "honest");
    const authorEpoch = ".metadata.annotations.drover\\.dev/author-epoch";
    const epoch = await installation.fieldOf(namespace, "honest", authorEpoch);
    await whileUnguarded(
      installation,
      () => kubectl(["delete", bindings, "drover-authors"]),
      () => forgeAuthor(installation, { namespace, name: "absent", as, epoch }),
    );
    const { reason, message } = await judged(namespace, "absent");
    const succeeded = await may(accountOf(namespace, "absent"), "*", "*");
    await untilNamed(installation, { namespace, user: mallory.user, as });
    return { succeeded, evidence: `may do everything: ${succeeded}; ${reason}: ${message}` };
  },
};
