import { defineController } from "@drover/controller";
import { App, app, ownsConfigMaps } from "../app.ts";
import { childrenOf } from "../children.ts";
import { twins } from "../twins.ts";

/** What this process has made is not looked for again. */
export const { broken, right } = twins(
  { name: "remembered children", steps: [{ apply: app({ size: 2 }) }, { apply: app({ size: 3 }) }] },
  (isRight) =>
    ({ client }) => {
      const made = new Set<string>();
      return defineController({
        for: App,
        owns: ownsConfigMaps,
        async reconcile(context) {
          const { metadata, spec } = context;
          const children = childrenOf(client, context);
          for (let i = 0; i < spec.size; i++) {
            const name = `${metadata.name}-${i}`;
            if (!isRight && made.has(name)) continue;
            await children.ensure(name, { text: spec.text });
            made.add(name);
          }
          return {};
        },
      });
    },
);
