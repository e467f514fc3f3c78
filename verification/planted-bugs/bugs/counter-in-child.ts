import { defineController } from "@drover/controller";
import { z } from "zod";
import { App, app, ownsConfigMaps } from "../app.ts";
import { childrenOf } from "../children.ts";
import { twins } from "../twins.ts";

const dataSchema = z.object({ revision: z.coerce.number() }).default({ revision: 0 });

/** A revision is counted up from what is there, as often as the work is repeated. */
export const { broken, right } = twins(
  {
    name: "counter in a child",
    steps: [{ apply: app({ text: "Hi" }) }, { apply: app({ text: "Ho" }) }],
  },
  (isRight) =>
    ({ client }) =>
      defineController({
        for: App,
        owns: ownsConfigMaps,
        async reconcile(context) {
          const { metadata, spec, status } = context;
          const children = childrenOf(client, context);
          const there = await children.get(metadata.name);
          if (there !== undefined && status.said === spec.text) return {};
          const { revision } = dataSchema.parse(there?.["data"]);
          const next = isRight ? metadata.generation : revision + 1;
          await children.ensure(metadata.name, { revision: String(next) });
          return { status: { said: spec.text } };
        },
      }),
);
