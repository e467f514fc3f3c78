import type { Attack } from "../attack.ts";
import { functionOf, authorIn } from "../rights/function-of.ts";
import { redisAsFunction } from "./redis-as-function.ts";

export const attack: Attack = {
  name: "deleting a namesake with a forged status does not disconnect the other function from Redis",
  kind: "a decision is kept",
  needs: ["cluster"],
  async run({ cluster }) {
    const installation = cluster();
    const { apply, grant, kubectl, redis } = installation;
    const victims = await installation.namespace("namesake-victim");
    const nora = { user: "nora-namesake" };
    const { namespace: hers, as } = await authorIn(installation, "namesake-nora", nora);
    await grant(
      nora,
      [{ apiGroups: ["drover.dev"], resources: ["reconcilefunctions/status"], verbs: ["*"] }],
      hers,
    );
    await apply([functionOf(victims, "billing")]);
    const connection = await redisAsFunction(installation, victims, "billing");
    try {
      const mine = ` name=${victims}.billing `;
      const before = String(await redis.client("LIST"));
      if (!before.includes(mine)) throw new Error("The victim is not connected.");
      await apply([functionOf(hers, "billing")], { as });
      const forged = JSON.stringify({ status: { delivered: "pull" } });
      const patch = ["patch", "rf", "billing", "-n", hers, "--type=merge", "--subresource=status"];
      const forging = await kubectl([...patch, "-p", forged], { as }).then(
        () => "accepted",
        () => "refused",
      );
      await kubectl(["delete", "rf", "billing", "-n", hers, "--wait=true"], { as });
      const idIn = (clients: string): string | undefined =>
        clients
          .split("\n")
          .find((line) => line.includes(mine))
          ?.split(" ")[0];
      const after = String(await redis.client("LIST"));
      // One that was cut connects again, with another id.
      const isConnected = idIn(after) === idIn(before);
      const is = isConnected ? "the victim is still connected" : "the victim's connection was cut";
      return { succeeded: !isConnected, evidence: `forged status ${forging}; ${is}` };
    } finally {
      connection.disconnect();
    }
  },
};
