import type { Attack } from "../attack.ts";
import { authorIn, functionOf } from "./function-of.ts";

const known = "known-to-mallory-known-to-mallory-known-to1";

export const attack: Attack = {
  name: "a planted Secret does not set the Redis password of a function",
  kind: "a decision is kept where a less trusted party writes",
  needs: ["cluster"],
  async run({ cluster }) {
    const installation = cluster();
    const { apply, grant, kubeconfigOf, judged, redis } = installation;
    const { namespace, as } = await authorIn(installation, "lent-password", { user: "author-lent" });
    const mallory = { user: "mallory-lent" };
    await grant(mallory, [{ apiGroups: [""], resources: ["secrets"], verbs: ["create"] }], namespace);
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "lent-redis", namespace } };
    await installation.kubectl(["create", "-f", "-"], {
      as: await kubeconfigOf(mallory),
      input: JSON.stringify({ ...secret, stringData: { password: known, since: new Date().toISOString() } }),
    });
    await apply([functionOf(namespace, "lent")], { as });
    await installation.permitted(namespace, "lent", as);
    const { reason } = await judged(namespace, "lent");
    const users = (await redis.call("ACL", "USERS")) as string[];
    for (const user of users.filter((name) => name.includes("lent"))) {
      const connection = redis.duplicate();
      const login = await connection.call("AUTH", user, known).then(
        () => true,
        () => false,
      );
      connection.disconnect();
      if (login) return { succeeded: true, evidence: `Redis takes the planted password for ${user}` };
    }
    return { succeeded: false, evidence: `${reason}; Redis users: ${users.join(", ")}` };
  },
};
