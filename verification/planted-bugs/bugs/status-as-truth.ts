import { applied } from "../app.ts";
import { twins } from "../twins.ts";

/** Children in the status are not observed again. */
export const { broken, right } = twins(
  { name: "status as truth", steps: applied({ text: "Hi" }, { text: "Ho" }) },
  (isRight) =>
    async ({ metadata, spec, status }, children) => {
      if (!isRight && status.said === spec.text) return { status: { said: status.said } };
      await children.ensure(`${metadata.name}-page`, { text: spec.text });
      await children.ensure(`${metadata.name}-style`, { text: spec.text });
      return { status: { said: spec.text } };
    },
);
