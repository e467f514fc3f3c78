import type { Mutant } from "./mutant.ts";
import { mutantsOfCachedObjects } from "./of-copies.ts";
import { mutantsOfCachedLists } from "./of-lists.ts";
import { mutantsOfKeys } from "./of-keys.ts";
import { mutantsOfAdvertisedSlots } from "./of-offers.ts";
import { mutantsOfOrder } from "./of-order.ts";
import { mutantsOfOperators } from "./of-people.ts";
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
