import { pausedAnnotation } from "@drover/controller";
import type { Attack } from "../attack.ts";
import { accountOf, functionOf, authorIn, withdraw } from "./function-of.ts";

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
    const isHeld = async () => (await holds()) > 0;
    const seconds = await withdraw(installation, alice, { namespace, isHeld });
    log(`withdrawn after ${seconds} s`);
    const left = (await kubectl(["get", "rf", "-n", namespace, "-o", "name"])).includes("leaver");
    return {
      succeeded: seconds > 60 || left,
      evidence: `${await holds()} hold it after ${seconds} s; the deleted one is there: ${left}`,
    };
  },
};
