import { setTimeout as delay } from "node:timers/promises";
import { core } from "../../harness/manifests.ts";
import { allThatReads } from "../../harness/redis-contents.ts";
import { type Attack, outcomeOf } from "../attack.ts";
import { functionOf, authorIn } from "../rights/function-of.ts";
import { redisAsFunction } from "./redis-as-function.ts";

const canary = "canary-of-the-former-owner";

export const attack: Attack = {
  name: "a new function inherits nothing in Redis from a deleted function of the same name",
  kind: "a name outlives its owner",
  needs: ["cluster"],
  slow: true,
  async run({ cluster, signal }) {
    const installation = cluster();
    const { apply, kubectl, redis, until } = installation;
    const former = await installation.namespace("inherit-former");
    const { namespace: next, as } = await authorIn(installation, "inherit-next", { user: "nora-inherits" });
    // Redis holds the objects of a function that declares copies.
    const { spec, ...peek } = functionOf(former, "peek");
    await apply([{ ...peek, spec: { ...spec, copies: true } }]);
    const uid = await installation.fieldOf(former, "peek", ".metadata.uid");
    await apply([core("ConfigMap", "prices", { data: { canary } }, former)]);
    const holding = async () => {
      const names = await redis.keys("*peek*");
      const found = await Promise.all(
        names.map(async (name) =>
          (await redis.type(name)) === "hash" ? Object.values(await redis.hgetall(name)) : [],
        ),
      );
      return found.flat().some((text) => text.includes(canary));
    };
    await until("a copy is in Redis", holding);
    // The bridge gets changes while the function is deleted.
    const busy = new AbortController();
    const changing = (async () => {
      for (let n = 0; !AbortSignal.any([busy.signal, signal]).aborted; n++) {
        await kubectl(["label", "configmap", "prices", "-n", former, `n=${n}`, "--overwrite"]).catch(
          () => "",
        );
        await delay(50);
      }
    })();
    /** Lines of the former function that the function of that name in a namespace can read. */
    const reads = async (namespace: string): Promise<readonly string[]> => {
      const connection = await redisAsFunction(installation, namespace, "peek");
      const read = await allThatReads(connection, redis);
      connection.disconnect();
      return read.split("\n").filter((line) => line.includes(canary) || line.includes(uid));
    };
    const keysLeft = () => redis.keys(`*${uid}*`);
    try {
      await kubectl(["delete", "rf", "peek", "-n", former, "--wait=true"]);
      await apply([functionOf(next, "peek")], { as });
      const [elsewhere] = await reads(next);
      if (elsewhere !== undefined) return { succeeded: true, evidence: elsewhere };
      await apply([functionOf(former, "peek")]);
      const [again] = await reads(former);
      if (again !== undefined) return { succeeded: true, evidence: again };
    } finally {
      busy.abort();
      await changing;
    }
    // A sweep removes later writes of the bridge within a minute.
    await until("nothing is left of it in Redis", async () => (await keysLeft()).length === 0).catch(
      () => undefined,
    );
    const nothing = "the next owners read nothing of the former's, and no key of the former is left";
    return outcomeOf(await keysLeft(), nothing);
  },
};
