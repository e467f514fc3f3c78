import { applied } from "../app.ts";
import { twins } from "../twins.ts";

/** What this process has made is not looked for again. */
export const { broken, right } = twins(
  { name: "remembered children", steps: applied({ size: 2 }, { size: 3 }) },
  (isRight) => {
    const made = new Set<string>();
    return async ({ metadata, spec }, children) => {
      for (let i = 0; i < spec.size; i++) {
        const name = `${metadata.name}-${i}`;
        if (!isRight && made.has(name)) continue;
        await children.ensure(name, { text: spec.text });
        made.add(name);
      }
      return {};
    };
  },
);
