import type { Mutant } from "./mutant.ts";
import { mutantsOfCachedObjects } from "./of-cached-objects.ts";
import { mutantsOfCachedLists } from "./of-cached-lists.ts";
import { mutantsOfKeys } from "./of-keys.ts";
import { mutantsOfAdvertisedSlots } from "./of-advertised-slots.ts";
import { mutantsOfOrder } from "./of-order.ts";
import { mutantsOfOperators } from "./of-operators.ts";
import { mutantsOfProcesses } from "./of-processes.ts";
import { mutantsOfScripts } from "./of-scripts.ts";
import { mutantsOfSettling } from "./of-settling.ts";

/** At least one for each promise of docs/work-queue.md. */
export const allMutants: readonly Mutant[] = [
  ...mutantsOfKeys,
  ...mutantsOfCachedObjects,
  ...mutantsOfCachedLists,
  ...mutantsOfAdvertisedSlots,
  ...mutantsOfOperators,
  ...mutantsOfSettling,
  ...mutantsOfOrder,
  ...mutantsOfProcesses,
  ...mutantsOfScripts,
];
