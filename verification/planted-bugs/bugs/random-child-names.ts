import { randomUUID } from "node:crypto";
import { applied } from "../app.ts";
import { twins } from "../twins.ts";

/** A child with a random name is found again only by the status, which is written after it. */
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
