import { applied } from "../app.ts";
import { twins } from "../twins.ts";

/** What follows upon a creation is done only by the run that created: if it ends in between, never. */
export const { broken, right } = twins(
  { name: "filled when made", steps: applied({ text: "Hi" }) },
  (isRight) =>
    async ({ metadata, spec }, children) => {
      const { name } = metadata;
      const there = await children.own(name);
      if (there === undefined) await children.create(name, {});
      const isEmpty = there?.["data"] === undefined;
      if (isRight ? isEmpty : there === undefined) await children.say(name, { text: spec.text });
      return {};
    },
);
