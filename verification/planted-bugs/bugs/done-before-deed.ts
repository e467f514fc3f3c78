import { says } from "../children.ts";
import { applied } from "../app.ts";
import { thingsServer } from "../things-server.ts";
import { twins } from "../twins.ts";

/** That it is done is written down before it is done, and is believed from then on. */
export const { broken, right } = twins(
  {
    name: "done before the deed",
    outside: thingsServer,
    steps: applied({ text: "one" }, { text: "two" }),
  },
  (isRight, { things }) =>
    async ({ metadata, spec }, children) => {
      const { name } = metadata;
      const record = { deployed: spec.text };
      const there = await children.own(name);
      if (there !== undefined && says(there, record)) return {};
      if (isRight) await things.put(name, spec.text);
      await children.ensure(name, record);
      if (!isRight) await things.put(name, spec.text);
      return {};
    },
);
