import { core, coreKind } from "../../harness/manifests.ts";
import { allThatReads } from "../../harness/redis-contents.ts";
import { type Attack, outcomeOf } from "../attack.ts";
import { functionOf, authorIn } from "../rights/function-of.ts";
import { redisAsFunction } from "./redis-as-function.ts";

export const attack: Attack = {
  name: "a function named like another function's names queue reads nothing of that queue",
  kind: "a name becomes structure",
  needs: ["cluster"],
  async run({ cluster }) {
    const installation = cluster();
    const { apply, redis, until } = installation;
    const victims = await installation.namespace("names-victim");
    const { namespace: mine, as } = await authorIn(installation, "names-mallory", { user: "mallory-names" });
    // Its code is asked which ConfigMaps a Secret concerns: the queue of these questions has the names of Secrets.
    const watches = [coreKind("Secret", { namespaces: [victims], names: { code: true } })];
    const victim = functionOf(victims, "sites.example.com", { watches });
    await apply([victim, core("Secret", "db-root", {}, victims)]);
    await until("the bridge asks about the Secret", async () =>
      (await redis.keys("*names*")).some((name) => name.includes(`${victims}/db-root`)),
    );
    const alike = "sites.example.com.names.secrets";
    await apply([functionOf(mine, alike)], { as });
    const connection = await redisAsFunction(installation, mine, alike);
    const read = await allThatReads(connection, redis);
    connection.disconnect();
    const got = read.split("\n").filter((line) => line.includes(`${victims}/db-root`));
    return outcomeOf(got, "none of the keys that it can read names the Secret");
  },
};
