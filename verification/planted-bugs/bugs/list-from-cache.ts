import { randomUUID } from "node:crypto";
import { defineController } from "@drover/controller";
import { builtin, listAll } from "@drover/kube";
import { App, app, ownsConfigMaps } from "../app.ts";
import { childrenOf } from "../children.ts";
import { twins } from "../twins.ts";

/** Children are counted as a cache has them, which may not have heard of those that were just made or deleted. */
export const { broken, right } = twins(
  {
    name: "list from a cache",
    steps: [{ apply: app({ size: 1 }) }, { apply: app({ size: 3 }) }, { apply: app({ size: 2 }) }],
  },
  (isRight) =>
    ({ client }) =>
      defineController({
        for: App,
        owns: ownsConfigMaps,
        async reconcile(context) {
          const { metadata, spec } = context;
          const { name, namespace } = metadata;
          const children = childrenOf(client, context);
          const resourceVersion = isRight ? undefined : "0";
          const all = await listAll(client, builtin.configMap, { namespace, resourceVersion });
          const mine = all.filter(children.isMine);
          for (let i = mine.length; i < spec.size; i++)
            await children.create(`${name}-${randomUUID().slice(0, 5)}`, {});
          for (const one of mine.slice(spec.size)) await children.delete(one);
          return {};
        },
      }),
);
