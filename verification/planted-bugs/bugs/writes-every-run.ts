import { defineController } from "@drover/controller";
import { App, app, ownsConfigMaps } from "../app.ts";
import { childrenOf, says } from "../children.ts";
import { twins } from "../twins.ts";

/** It is written in every run, needed or not: with anything that changes in it, a hot loop. */
export const { broken, right } = twins(
  { name: "writes every run", steps: [{ apply: app({ text: "Hi" }) }, { apply: app({ text: "Ho" }) }] },
  (isRight) =>
    ({ client }) =>
      defineController({
        for: App,
        owns: ownsConfigMaps,
        async reconcile(context) {
          const { metadata, spec } = context;
          const { name } = metadata;
          const children = childrenOf(client, context);
          const data = { text: spec.text };
          const there = await children.get(name);
          if (there === undefined) await children.create(name, data);
          else if (!children.isMine(there)) throw new Error(`${name} is somebody else's.`);
          else if (!isRight || !says(there, data)) await children.say(name, data);
          return {};
        },
      }),
);
