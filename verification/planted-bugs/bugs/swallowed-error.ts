import { defineController } from "@drover/controller";
import { App, app, ownsConfigMaps } from "../app.ts";
import { childrenOf } from "../children.ts";
import { twins } from "../twins.ts";

/** A write that fails is logged, and nobody tries again. */
export const { broken, right } = twins(
  { name: "swallowed error", steps: [{ apply: app({ text: "Hi" }) }, { apply: app({ text: "Ho" }) }] },
  (isRight) =>
    ({ client }) =>
      defineController({
        for: App,
        owns: ownsConfigMaps,
        async reconcile(context) {
          const { metadata, spec, log } = context;
          try {
            await childrenOf(client, context).ensure(metadata.name, { text: spec.text });
          } catch (error) {
            log.warn({ err: error }, "The child is not as it should be");
            if (isRight) throw error;
          }
          return {};
        },
      }),
);
