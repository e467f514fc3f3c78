import { applied } from "../app.ts";
import { twins } from "../twins.ts";

/** The old child goes only if this very process has seen the change of its name. */
export const { broken, right } = twins(
  {
    name: "renamed in memory",
    steps: applied({ child: "x" }, { child: "y" }),
  },
  (isRight) => {
    const last = new Map<string, string>();
    return async ({ key, spec }, children) => {
      await children.ensure(spec.child, { text: spec.text });
      const isOld = (name: string): boolean =>
        isRight ? name !== spec.child : name !== spec.child && name === last.get(key);
      for (const child of await children.mine()) {
        if (isOld(child.metadata.name)) await children.delete(child);
      }
      last.set(key, spec.child);
      return {};
    };
  },
);
