import { checkedAtRun } from "@drover/controller";
import { z } from "zod";

const withIds = z.array(z.object({ id: z.string() }));

/** Why items cannot be in one list, if two have the same id. Undefined if all ids differ. */
export function repeatedIdProblem(items: z.output<typeof withIds>): string | undefined {
  const ids = items.map(({ id }) => id);
  const repeated = ids.find((id, index) => ids.indexOf(id) < index);
  return repeated === undefined
    ? undefined
    : `Two items have the id ${JSON.stringify(repeated)}; remove one, or give it another id`;
}

/**
 * The schema of a list whose items have different ids. The API server refuses an object in which an id is repeated; a
 * run checks it too, for objects that are older than this rule.
 */
export const listById = <Item extends z.ZodType<{ id: string }>>(item: Item) =>
  z
    .array(item)
    .refine((items) => repeatedIdProblem(items) === undefined, {
      error: ({ input }) => repeatedIdProblem(withIds.parse(input)),
      ...checkedAtRun,
    })
    .meta({ kubernetes: { listType: "map", listMapKeys: ["id"] } });
