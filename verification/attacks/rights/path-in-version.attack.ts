import type { Redis } from "ioredis";
import { z } from "zod";
import { coreKind, secret } from "../../harness/manifests.ts";
import { type Attack, outcomeOf } from "../attack.ts";
import { authorIn, functionOf } from "./function-of.ts";
import { withoutSchema } from "./stored-as.ts";

const canary = "CANARY-SECRET-VALUE";

export const attack: Attack = {
  name: "the version of a kind cannot select another resource in the URL",
  kind: "text of a spec becomes structure",
  needs: ["cluster"],
  async run({ cluster }) {
    const installation = cluster();
    const { apply, fieldOf, grant, redis, until } = installation;
    const payroll = await installation.namespace("payroll");
    await apply([secret("db-root", { password: canary }, payroll)]);
    const vera = { user: "vera" };
    const { namespace, as } = await authorIn(installation, "viewers", vera);
    await grant(vera, [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] }]);
    const kind = { ...coreKind("Secret"), version: "v1/secrets?x=", plural: "configmaps" };
    const peek = functionOf(namespace, "peek", { for: kind, copies: true });
    const refused = await apply([peek], { as }).then(
      () => undefined,
      () => "the CRD refuses it",
    );
    if (refused !== undefined) await withoutSchema(installation, () => apply([peek], { as }));
    // Bridge or deployer has handled it: the status has a problem, or the kind is followed.
    const statusSchema = z.looseObject({ problem: z.string().optional(), follows: z.unknown().optional() });
    const status = await until("the bridge has reported the function in its status", async () => {
      const text = await fieldOf(namespace, "peek", ".status");
      const now = statusSchema.safeParse(text === "" ? {} : JSON.parse(text)).data;
      return (now?.problem !== undefined || text.includes('"Following"')) && text;
    });
    return outcomeOf(await leaked(redis), status);
  },
};

/** The first key of Redis that names the Secret or holds its content; nothing where none does. */
async function leaked(redis: Redis): Promise<readonly string[]> {
  for (const key of await redis.keys("*")) {
    if (key.includes("payroll/db-root") && !key.startsWith("{drover-stream:"))
      return [`Redis has the key ${key}`];
    if ((await redis.type(key)) !== "hash") continue;
    const values = (await redis.hvals(key)).join("\n");
    if (values.includes(Buffer.from(canary).toString("base64")))
      return [`Redis has the content of the Secret in ${key}`];
  }
  return [];
}
