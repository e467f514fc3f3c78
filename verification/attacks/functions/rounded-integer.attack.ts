import { controllerFrom } from "@drover/controller";
import { testCluster } from "@drover/testing";
import { z } from "zod";
import { exampleKind } from "../../harness/example-kind.ts";
import { type Attack, outcomeOf } from "../attack.ts";

const anything = z.looseObject({}).meta({ kubernetes: { preserveUnknownFields: true } });
const Account = exampleKind("Account", {
  spec: { any: anything, n: z.number().optional() },
  status: { any: anything.optional() },
});

/** As doubles, 9007199254740993 and 9007199254740992 are equal: the owner of one account would reach the other. */
export const attack: Attack = {
  name: "an object's integer does not reach a function, or come back from it, as another integer",
  kind: "a name is an identity",
  needs: [],
  async run() {
    const wrong: string[] = [];
    const own = 2n ** 53n + 1n;
    const seen: unknown[] = [];
    const start = () =>
      controllerFrom({
        for: Account,
        reconcile: ({ spec: { any, n } }) => {
          seen.push(any["id"], n);
          return Promise.resolve({ status: { any } });
        },
      });
    await using cluster = await testCluster(start);
    const { apiVersion, kind } = Account;
    const text = async (name: string): Promise<string> => {
      const { server, token = "" } = cluster.server;
      const path = `/apis/${apiVersion}/namespaces/default/${Account.plural}/${name}`;
      return (await fetch(server + path, { headers: { authorization: `Bearer ${token}` } })).text();
    };
    await cluster.apply({ apiVersion, kind, metadata: { name: "any" }, spec: { any: { id: own } } });
    await cluster.runUntilIdle();
    const [spec, status] = [...(await text("any")).matchAll(/"id":(-?\d+)/g)].map(([, id]) => id);
    if (spec !== String(own) || status !== String(own))
      wrong.push(`${own} is ${spec ?? ""}, then ${status ?? ""}`);
    if (seen.some((one) => one !== undefined && one !== own)) wrong.push(`the function got ${seen.join()}`);

    seen.length = 0;
    await cluster.apply({ apiVersion, kind, metadata: { name: "n" }, spec: { any: {}, n: own } });
    await cluster.runUntilIdle();
    if (seen.length > 0) wrong.push(`the function was called with ${String(seen.at(-1))}`);
    if (!(await text("n")).includes("spec.n: a JavaScript number cannot hold"))
      wrong.push("no condition names spec.n");
    return outcomeOf(wrong, "each digit is kept, or the condition names the field");
  },
};
