import { defineController } from "@drover/controller";
import { App, app, ownsConfigMaps } from "../app.ts";
import { childrenOf } from "../children.ts";
import { twins } from "../twins.ts";

/** What the status says was made is not looked at again. */
export const { broken, right } = twins(
  { name: "status as truth", steps: [{ apply: app({ text: "Hi" }) }, { apply: app({ text: "Ho" }) }] },
  (isRight) =>
    ({ client }) =>
      defineController({
        for: App,
        owns: ownsConfigMaps,
        async reconcile(context) {
          const { metadata, spec, status } = context;
          if (!isRight && status.said === spec.text) return { status: { said: status.said } };
          const children = childrenOf(client, context);
          await children.ensure(`${metadata.name}-page`, { text: spec.text });
          await children.ensure(`${metadata.name}-style`, { text: spec.text });
          return { status: { said: spec.text } };
        },
      }),
);
