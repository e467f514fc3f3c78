import { defineController } from "@drover/controller";
import { App, app, ownsConfigMaps } from "../app.ts";
import { childrenOf, says } from "../children.ts";
import { thingsAt, thingsServer } from "../things-server.ts";
import { twins } from "../twins.ts";

/** That it is done is written down before it is done, and is believed from then on. */
export const { broken, right } = twins(
  {
    name: "done before the deed",
    outside: thingsServer,
    steps: [{ apply: app({ text: "one" }) }, { apply: app({ text: "two" }) }],
  },
  (isRight) =>
    ({ client, outside }) => {
      const things = thingsAt(outside["things"]);
      return defineController({
        for: App,
        owns: ownsConfigMaps,
        async reconcile(context) {
          const { metadata, spec } = context;
          const { name } = metadata;
          const children = childrenOf(client, context);
          const record = { deployed: spec.text };
          const there = await children.get(name);
          if (there !== undefined && !children.isMine(there)) throw new Error(`${name} is somebody else's.`);
          if (there !== undefined && says(there, record)) return {};
          if (isRight) await things.put(name, spec.text);
          await children.ensure(name, record);
          if (!isRight) await things.put(name, spec.text);
          return {};
        },
      });
    },
);
