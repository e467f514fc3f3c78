import { applied } from "../app.ts";
import { twins } from "../twins.ts";

/** The old child goes only if the status knows its name; and the status is written after the child. */
export const { broken, right } = twins(
  {
    name: "remembered in the status",
    steps: applied({ child: "x" }, { child: "y" }, { child: "z" }),
  },
  (isRight) =>
    async ({ spec, status }, children) => {
      await children.ensure(spec.child, { text: spec.text });
      for (const child of await children.mine()) {
        const { name } = child.metadata;
        const isOld = name !== spec.child && (isRight || name === status.child);
        if (isOld) await children.delete(child);
      }
      return { status: { child: spec.child } };
    },
);
