import { defineController } from "@drover/controller";
import { App, app, ownsConfigMaps } from "../app.ts";
import { childrenOf } from "../children.ts";
import { twins } from "../twins.ts";

/** What follows upon a creation is done only by the run that created: if it ends in between, never. */
export const { broken, right } = twins(
  { name: "filled when made", steps: [{ apply: app({ text: "Hi" }) }] },
  (isRight) =>
    ({ client }) =>
      defineController({
        for: App,
        owns: ownsConfigMaps,
        async reconcile(context) {
          const { metadata, spec } = context;
          const { name } = metadata;
          const children = childrenOf(client, context);
          const there = await children.get(name);
          if (there !== undefined && !children.isMine(there)) throw new Error(`${name} is somebody else's.`);
          if (there === undefined) await children.create(name, {});
          const isEmpty = there?.["data"] === undefined;
          if (isRight ? isEmpty : there === undefined) await children.say(name, { text: spec.text });
          return {};
        },
      }),
);
