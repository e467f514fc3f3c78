import type { Mutant } from "./mutant.ts";
import { mutantsOfCopies } from "./of-copies.ts";
import { mutantsOfLists } from "./of-lists.ts";
import { mutantsOfKeys } from "./of-keys.ts";
import { mutantsOfOffers } from "./of-offers.ts";
import { mutantsOfOrder } from "./of-order.ts";
import { mutantsOfPeople } from "./of-people.ts";
import { mutantsOfProcesses } from "./of-processes.ts";
import { mutantsOfScripts } from "./of-scripts.ts";
import { mutantsOfSettling } from "./of-settling.ts";

/** At least one for each promise of docs/work-queue.md. */
export const allMutants: readonly Mutant[] = [
  ...mutantsOfKeys,
  ...mutantsOfCopies,
  ...mutantsOfLists,
  ...mutantsOfOffers,
  ...mutantsOfPeople,
  ...mutantsOfSettling,
  ...mutantsOfOrder,
  ...mutantsOfProcesses,
  ...mutantsOfScripts,
];
