import { app, applied } from "../app.ts";
import { thingsServer } from "../things-server.ts";
import { twins } from "../twins.ts";

/** A thing outside of the cluster is made by a request that makes another one when it is repeated. */
export const { broken, right } = twins(
  {
    name: "create without an idempotency key",
    outside: thingsServer,
    steps: [...applied({}), { delete: { ...app({}), name: "a" } }],
  },
  (isRight, { things }) => ({
    owns: [],
    async reconcile({ key, metadata, status: { id } }) {
      if (id !== undefined) return { status: { id } };
      const made = isRight ? await things.put(metadata.uid, key) : await things.post(key);
      return { status: { id: made.id } };
    },
    async finalize({ status, metadata }) {
      await things.delete(isRight ? metadata.uid : (status.id ?? ""));
    },
  }),
);
