import { defineController } from "@drover/controller";
import { z } from "zod";
import { App, app, ownsConfigMaps } from "../app.ts";
import { childrenOf } from "../children.ts";
import { thingsAt, thingsServer } from "../things-server.ts";
import { twins } from "../twins.ts";

const recordSchema = z.object({ id: z.string() });

/** What says which thing is to be cleaned up goes before it has been. */
export const { broken, right } = twins(
  {
    name: "record before clean-up",
    outside: thingsServer,
    steps: [{ apply: app({}) }, { delete: { ...app({}), name: "a" } }],
  },
  (isRight) =>
    ({ client, outside }) => {
      const things = thingsAt(outside["things"]);
      return defineController({
        for: App,
        owns: ownsConfigMaps,
        async reconcile(context) {
          const { key, metadata } = context;
          await childrenOf(client, context).ensure(metadata.name, { id: metadata.uid });
          const isThere = (await things.list()).some(({ id }) => id === metadata.uid);
          if (!isThere) await things.put(metadata.uid, key);
          return {};
        },
        async finalize(context) {
          const children = childrenOf(client, context);
          const record = await children.get(context.metadata.name);
          if (record === undefined || !children.isMine(record)) return;
          if (!isRight) await children.delete(record);
          await things.delete(recordSchema.parse(record["data"]).id);
          if (isRight) await children.delete(record);
        },
      });
    },
);
