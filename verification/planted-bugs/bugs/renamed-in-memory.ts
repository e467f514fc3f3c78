import { defineController } from "@drover/controller";
import { App, app, ownsConfigMaps } from "../app.ts";
import { childrenOf } from "../children.ts";
import { twins } from "../twins.ts";

/** The old child goes only if this very process has seen the change of its name. */
export const { broken, right } = twins(
  {
    name: "renamed in memory",
    steps: [{ apply: app({ child: "x" }) }, { apply: app({ child: "y" }) }],
  },
  (isRight) =>
    ({ client }) => {
      const last = new Map<string, string>();
      return defineController({
        for: App,
        owns: ownsConfigMaps,
        async reconcile(context) {
          const { key, spec } = context;
          const children = childrenOf(client, context);
          await children.ensure(spec.child, { text: spec.text });
          const isOld = (name: string): boolean =>
            isRight ? name !== spec.child : name !== spec.child && name === last.get(key);
          for (const child of await children.mine()) {
            if (isOld(child.metadata.name)) await children.delete(child);
          }
          last.set(key, spec.child);
          return {};
        },
      });
    },
);
