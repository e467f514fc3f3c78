import { defineController } from "@drover/controller";
import { builtin } from "@drover/kube";
import { App, app, ownsConfigMaps } from "../app.ts";
import { childrenOf, says } from "../children.ts";
import { twins } from "../twins.ts";

/** The whole object is written back as it was read, without the version that was read: what came in between is undone. */
export const { broken, right } = twins(
  {
    name: "whole object written back",
    steps: ["Hi", "Ho", "Ha"].map((text) => ({ apply: app({ text }) })),
  },
  (isRight) =>
    ({ client }) =>
      defineController({
        for: App,
        owns: ownsConfigMaps,
        async reconcile(context) {
          const { metadata, spec, guard } = context;
          const { name } = metadata;
          const data = { text: spec.text };
          const children = childrenOf(client, context);
          const there = await children.get(name);
          if (there === undefined) await children.create(name, data);
          else if (!children.isMine(there)) throw new Error(`${name} is somebody else's.`);
          else if (!says(there, data)) {
            const { resourceVersion, ...kept } = there.metadata;
            const known = isRight ? { ...kept, resourceVersion } : kept;
            await client.guarded(guard).replace(builtin.configMap, { ...there, metadata: known, data });
          }
          return {};
        },
      }),
);
