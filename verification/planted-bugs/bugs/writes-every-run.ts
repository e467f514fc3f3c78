import { says } from "../children.ts";
import { applied } from "../app.ts";
import { twins } from "../twins.ts";

/** It is written in every run, needed or not: with anything that changes in it, a hot loop. */
export const { broken, right } = twins(
  { name: "writes every run", steps: applied({ text: "Hi" }, { text: "Ho" }) },
  (isRight) =>
    async ({ metadata, spec }, children) => {
      const { name } = metadata;
      const data = { text: spec.text };
      const there = await children.own(name);
      if (there === undefined) await children.create(name, data);
      else if (!isRight || !says(there, data)) await children.say(name, data);
      return {};
    },
);
