import { pausedAnnotation } from "@drover/controller";
import type { Attack } from "../attack.ts";
import { accountOf, functionOf, authorIn, makeAuthor } from "./function-of.ts";

export const attack: Attack = {
  name: "a function that its author has paused is reviewed, and taken down, like any other",
  kind: "a decision is kept",
  needs: ["cluster"],
  slow: true,
  async run({ cluster, log }) {
    const installation = cluster();
    const { apply, grant, kubectl, may, permitted, until } = installation;
    const alice = { user: "alice-paused" };
    const { namespace, as } = await authorIn(installation, "paused-function", alice);
    const role = [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }];
    await grant(alice, role, namespace);
    const names = ["sleeper", "leaver"];
    const asking = (annotations: Readonly<Record<string, string>>) =>
      names.map((name) => functionOf(namespace, name, { permissions: { namespace: role } }, annotations));
    await apply(asking({}), { as });
    const holds = async (): Promise<number> => {
      const accounts = names.map((name) => accountOf(namespace, name));
      const rights = await Promise.all(accounts.map((one) => may(one, "get", "secrets", namespace)));
      return rights.filter(Boolean).length;
    };
    for (const name of names) await permitted(namespace, name, as);
    await until("both functions may read Secrets", async () => (await holds()) === 2);
    await apply(asking({ [pausedAnnotation]: "true" }), { as });
    await kubectl(["delete", "rf", "leaver", "-n", namespace, "--wait=false"]);
    await kubectl(["delete", "rolebindings", "-n", namespace, "-l", "!drover.dev/function"]);
    await makeAuthor(installation, alice, namespace);
    const begun = Date.now();
    const withdrawn = await until("nothing is held any more", async () => (await holds()) === 0).catch(
      () => false,
    );
    const seconds = Math.round((Date.now() - begun) / 1_000);
    log(`withdrawn after ${seconds} s`);
    const left = (await kubectl(["get", "rf", "-n", namespace, "-o", "name"])).includes("leaver");
    const succeeded = !withdrawn || seconds > 60 || left;
    return {
      succeeded,
      evidence: `${await holds()} hold it after ${seconds} s; the deleted one is there: ${left}`,
    };
  },
};
