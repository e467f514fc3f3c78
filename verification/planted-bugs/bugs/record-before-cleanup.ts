import { z } from "zod";
import { app, applied } from "../app.ts";
import { thingsServer } from "../things-server.ts";
import { twins } from "../twins.ts";

const recordSchema = z.object({ id: z.string() });

/** The record that names the thing is deleted before the thing. */
export const { broken, right } = twins(
  {
    name: "record before clean-up",
    outside: thingsServer,
    steps: [...applied({}), { delete: { ...app({}), name: "a" } }],
  },
  (isRight, { things }) => ({
    async reconcile({ key, metadata }, children) {
      await children.ensure(metadata.name, { id: metadata.uid });
      const isThere = (await things.list()).some(({ id }) => id === metadata.uid);
      if (!isThere) await things.put(metadata.uid, key);
      return {};
    },
    async finalize({ metadata }, children) {
      const record = await children.get(metadata.name);
      if (record === undefined || !children.isMine(record)) return;
      if (!isRight) await children.delete(record);
      await things.delete(recordSchema.parse(record["data"]).id);
      if (isRight) await children.delete(record);
    },
  }),
);
