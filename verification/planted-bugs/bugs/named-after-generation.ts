import { app } from "../app.ts";
import { twins } from "../twins.ts";

/** A child's name has a number in it, and the one before it is deleted; but not every number was ever seen. */
export const { broken, right } = twins(
  {
    name: "named after the generation",
    steps: ["one", "two", "three"].map((text) => ({ apply: app({ text }) })),
  },
  (isRight) =>
    async ({ metadata, spec }, children) => {
      const { name, generation = 0 } = metadata;
      const wanted = `${name}-${generation}`;
      await children.ensure(wanted, { text: spec.text });
      const old = (await children.mine()).filter((one) =>
        isRight ? one.metadata.name !== wanted : one.metadata.name === `${name}-${generation - 1}`,
      );
      for (const one of old) await children.delete(one);
      return {};
    },
);
