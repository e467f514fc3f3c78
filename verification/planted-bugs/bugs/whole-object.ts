import { builtin } from "@drover/kube";
import { app } from "../app.ts";
import { says } from "../children.ts";
import { twins } from "../twins.ts";

/** The whole object is written back as it was read, without the version that was read: what came in between is undone. */
export const { broken, right } = twins(
  {
    name: "whole object written back",
    steps: ["Hi", "Ho", "Ha"].map((text) => ({ apply: app({ text }) })),
  },
  (isRight, { client }) =>
    async ({ metadata, spec, guard }, children) => {
      const { name } = metadata;
      const data = { text: spec.text };
      const there = await children.own(name);
      if (there === undefined) await children.create(name, data);
      else if (!says(there, data)) {
        const { resourceVersion, ...kept } = there.metadata;
        const known = isRight ? { ...kept, resourceVersion } : kept;
        await client.guarded(guard).replace(builtin.configMap, { ...there, metadata: known, data });
      }
      return {};
    },
);
