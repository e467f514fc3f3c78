import { defineController } from "@drover/controller";
import { App, app } from "../app.ts";
import { thingsAt, thingsServer } from "../things-server.ts";
import { twins } from "../twins.ts";

/** A thing outside of the cluster is made by a request that makes another one when it is repeated. */
export const { broken, right } = twins(
  {
    name: "create without an idempotency key",
    outside: thingsServer,
    steps: [{ apply: app({}) }, { delete: { ...app({}), name: "a" } }],
  },
  (isRight) =>
    ({ outside }) => {
      const things = thingsAt(outside["things"]);
      return defineController({
        for: App,
        async reconcile({ key, metadata, status }) {
          const { id } =
            status.id !== undefined
              ? { id: status.id }
              : isRight
                ? await things.put(metadata.uid, key)
                : await things.post(key);
          return { status: { id } };
        },
        async finalize({ status, metadata }) {
          await things.delete(isRight ? metadata.uid : (status.id ?? ""));
        },
      });
    },
);
