import { randomUUID } from "node:crypto";
import { builtin, listAll } from "@drover/kube";
import { applied } from "../app.ts";
import { twins } from "../twins.ts";

/** Children are counted in a cache, which may lack those that were just created or deleted. */
export const { broken, right } = twins(
  {
    name: "list from a cache",
    steps: applied({ size: 1 }, { size: 3 }, { size: 2 }),
  },
  (isRight, { client }) =>
    async ({ metadata, spec }, children) => {
      const { name, namespace } = metadata;
      const resourceVersion = isRight ? undefined : "0";
      const all = await listAll(client, builtin.configMap, { namespace, resourceVersion });
      const mine = all.filter(children.isMine);
      for (let i = mine.length; i < spec.size; i++)
        await children.create(`${name}-${randomUUID().slice(0, 5)}`, {});
      for (const one of mine.slice(spec.size)) await children.delete(one);
      return {};
    },
);
