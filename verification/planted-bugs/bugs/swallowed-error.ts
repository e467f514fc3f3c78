import { applied } from "../app.ts";
import { twins } from "../twins.ts";

/** A write that fails is logged, and not retried. */
export const { broken, right } = twins(
  { name: "swallowed error", steps: applied({ text: "Hi" }, { text: "Ho" }) },
  (isRight) =>
    async ({ metadata, spec, log }, children) => {
      try {
        await children.ensure(metadata.name, { text: spec.text });
      } catch (error) {
        log.warn({ err: error }, "The child is not as it should be");
        if (isRight) throw error;
      }
      return {};
    },
);
