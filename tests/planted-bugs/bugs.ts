import type { TestPlan } from "@drover/testing";
import * as alreadyExistsFails from "./already-exists-fails.ts";
import * as childrenByLabels from "./children-by-labels.ts";
import * as counterInChild from "./counter-in-child.ts";
import * as counterInMemory from "./counter-in-memory.ts";
import * as createWithoutKey from "./create-without-key.ts";
import * as deleteThenCreate from "./delete-then-create.ts";
import * as doneBeforeDeed from "./done-before-deed.ts";
import * as filledWhenMade from "./filled-when-made.ts";
import * as listFromCache from "./list-from-cache.ts";
import * as namedAfterGeneration from "./named-after-generation.ts";
import * as noOwnerCheck from "./no-owner-check.ts";
import * as randomChildNames from "./random-child-names.ts";
import * as recordBeforeCleanup from "./record-before-cleanup.ts";
import * as rememberedChildren from "./remembered-children.ts";
import * as rememberedInStatus from "./remembered-in-status.ts";
import * as renamedInMemory from "./renamed-in-memory.ts";
import * as statusAsTruth from "./status-as-truth.ts";
import * as swallowedError from "./swallowed-error.ts";
import type { Twins } from "./twins.ts";
import * as wholeObject from "./whole-object.ts";
import * as writesEveryRun from "./writes-every-run.ts";

/** Each bug, and the kinds of plans that must find it. */
export const bugs: readonly (readonly [Twins, ...TestPlan["kind"][]])[] = [
  [alreadyExistsFails, "crash", "lost answer"],
  [childrenByLabels, "stranger"],
  [counterInChild, "crash", "lost answer"],
  [counterInMemory, "crash"],
  [createWithoutKey, "crash", "lost answer"],
  [deleteThenCreate, "crash", "lost answer", "refused"],
  [doneBeforeDeed, "crash", "refused"],
  [filledWhenMade, "crash", "lost answer", "refused"],
  [listFromCache, "stale view"],
  [namedAfterGeneration, "unobserved", "down"],
  [noOwnerCheck, "stranger"],
  [randomChildNames, "crash", "lost answer"],
  [recordBeforeCleanup, "crash", "lost answer"],
  [rememberedChildren, "taken away"],
  [rememberedInStatus, "down"],
  [renamedInMemory, "crash"],
  [statusAsTruth, "taken away"],
  [swallowedError, "refused"],
  [wholeObject, "interfered"],
  [writesEveryRun, "looked at again"],
];
