import { z } from "zod";
import { applied } from "../app.ts";
import { twins } from "../twins.ts";

const dataSchema = z.object({ revision: z.coerce.number() }).default({ revision: 0 });

/** A revision is counted up from what is there, as often as the work is repeated. */
export const { broken, right } = twins(
  {
    name: "counter in a child",
    steps: applied({ text: "Hi" }, { text: "Ho" }),
  },
  (isRight) =>
    async ({ metadata, spec, status }, children) => {
      const there = await children.get(metadata.name);
      if (there !== undefined && status.said === spec.text) return {};
      const { revision } = dataSchema.parse(there?.["data"]);
      const next = isRight ? metadata.generation : revision + 1;
      await children.ensure(metadata.name, { revision: String(next) });
      return { status: { said: spec.text } };
    },
);
