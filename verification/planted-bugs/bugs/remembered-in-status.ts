import { defineController } from "@drover/controller";
import { App, app, ownsConfigMaps } from "../app.ts";
import { childrenOf } from "../children.ts";
import { twins } from "../twins.ts";

/** The old child goes only if the status knows its name; and the status is written after the child. */
export const { broken, right } = twins(
  {
    name: "remembered in the status",
    steps: [{ apply: app({ child: "x" }) }, { apply: app({ child: "y" }) }, { apply: app({ child: "z" }) }],
  },
  (isRight) =>
    ({ client }) =>
      defineController({
        for: App,
        owns: ownsConfigMaps,
        async reconcile(context) {
          const { spec, status } = context;
          const children = childrenOf(client, context);
          await children.ensure(spec.child, { text: spec.text });
          for (const child of await children.mine()) {
            const { name } = child.metadata;
            const isOld = name !== spec.child && (isRight || name === status.child);
            if (isOld) await children.delete(child);
          }
          return { status: { child: spec.child } };
        },
      }),
);
