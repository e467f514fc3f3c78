import { says } from "../children.ts";
import { applied } from "../app.ts";
import { twins } from "../twins.ts";

/** An object of the right name is taken for one's own. */
export const { broken, right } = twins(
  { name: "no owner check", steps: applied({ text: "Hi" }, { text: "Ho" }) },
  (isRight) =>
    async ({ metadata, spec }, children) => {
      for (const name of [`${metadata.name}-page`, `${metadata.name}-style`]) {
        const there = await children.get(name);
        if (there === undefined) await children.create(name, { text: spec.text });
        else if (isRight && !children.isMine(there)) throw new Error(`${name} belongs to another owner.`);
        else if (!says(there, { text: spec.text })) await children.say(name, { text: spec.text });
      }
      return {};
    },
);
