import { randomUUID } from "node:crypto";
import { defineController } from "@drover/controller";
import { App, app, ownsConfigMaps } from "../app.ts";
import { childrenOf } from "../children.ts";
import { twins } from "../twins.ts";

/** A child whose name is made up is found again only by what the status says, which is written after it. */
export const { broken, right } = twins(
  { name: "random child names", steps: [{ apply: app({ text: "Hi" }) }, { apply: app({ text: "Ho" }) }] },
  (isRight) =>
    ({ client }) =>
      defineController({
        for: App,
        owns: ownsConfigMaps,
        async reconcile(context) {
          const { metadata, spec, status } = context;
          const made = isRight ? metadata.name : `${metadata.name}-${randomUUID().slice(0, 5)}`;
          const child = status.child ?? made;
          await childrenOf(client, context).ensure(child, { text: spec.text });
          return { status: { child } };
        },
      }),
);
