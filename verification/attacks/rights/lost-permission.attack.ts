import type { Attack } from "../attack.ts";
import { accountOf, authorIn, functionOf, withdraw } from "./function-of.ts";

export const attack: Attack = {
  name: "a function loses a permission when its author loses it, however the author changes the function",
  kind: "a decision is kept",
  needs: ["cluster"],
  slow: true,
  async run({ cluster, log }) {
    const installation = cluster();
    const { apply, fieldOf, grant, may, permitted, redis, until } = installation;
    const alice = { user: "alice" };
    const { namespace, as } = await authorIn(installation, "lost-permission", alice);
    const role = [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }];
    await grant(alice, role, namespace);
    const asking = { permissions: { namespace: role } };
    await apply([functionOf(namespace, "keeper", asking), functionOf(namespace, "staller", asking)], { as });
    const accounts = ["keeper", "staller"].map((name) => accountOf(namespace, name));
    const users = async () =>
      (await redis.acl("USERS")).filter((user) => user.startsWith(`function:${namespace}/`)).length;
    const held = async () => {
      const count = await users();
      const rights = await Promise.all(accounts.map((account) => may(account, "get", "secrets", namespace)));
      return [...rights, count > 0, count > 1];
    };
    for (const name of ["keeper", "staller"]) await permitted(namespace, name, as);
    await until("both functions may read Secrets, and have a Redis user", async () =>
      (await held()).every(Boolean),
    );
    // She asks for what is refused for good: the deployer does not come to this function's review again by its own queue.
    await apply([functionOf(namespace, "staller", { ...asking, timeout: "9999d" })], { as }).catch(
      () => undefined,
    );
    await apply([functionOf(namespace, "staller", { ...asking, webhook: { path: "/" } })], { as });
    const isHeld = async () => (await held()).some(Boolean);
    const seconds = await withdraw(installation, alice, { namespace, isHeld });
    log(`withdrawn after ${seconds} s`);
    const why = await fieldOf(namespace, "keeper", `.status.conditions[?(@.type=="Ready")]`);
    const named = why.includes("get secrets in namespace");
    return { succeeded: seconds > 60 || !named, evidence: `withdrawn after ${seconds} s; ${why}` };
  },
};
