import { randomUUID } from "node:crypto";
import { applied } from "../app.ts";
import { twins } from "../twins.ts";

/** A child whose name is made up is found again only by what the status says, which is written after it. */
export const { broken, right } = twins(
  { name: "random child names", steps: applied({ text: "Hi" }, { text: "Ho" }) },
  (isRight) =>
    async ({ metadata, spec, status }, children) => {
      const made = isRight ? metadata.name : `${metadata.name}-${randomUUID().slice(0, 5)}`;
      const child = status.child ?? made;
      await children.ensure(child, { text: spec.text });
      return { status: { child } };
    },
);
