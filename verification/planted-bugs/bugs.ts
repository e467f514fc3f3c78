import type { TestPlan } from "@drover/testing";
import * as alreadyExistsFails from "./bugs/already-exists-fails.ts";
import * as childrenByLabels from "./bugs/children-by-labels.ts";
import * as counterInChild from "./bugs/counter-in-child.ts";
import * as counterInMemory from "./bugs/counter-in-memory.ts";
import * as createWithoutKey from "./bugs/create-without-key.ts";
import * as deleteThenCreate from "./bugs/delete-then-create.ts";
import * as doneBeforeDeed from "./bugs/done-before-deed.ts";
import * as filledWhenMade from "./bugs/filled-when-made.ts";
import * as listFromCache from "./bugs/list-from-cache.ts";
import * as namedAfterGeneration from "./bugs/named-after-generation.ts";
import * as noOwnerCheck from "./bugs/no-owner-check.ts";
import * as randomChildNames from "./bugs/random-child-names.ts";
import * as recordBeforeCleanup from "./bugs/record-before-cleanup.ts";
import * as rememberedChildren from "./bugs/remembered-children.ts";
import * as rememberedInStatus from "./bugs/remembered-in-status.ts";
import * as renamedInMemory from "./bugs/renamed-in-memory.ts";
import * as statusAsTruth from "./bugs/status-as-truth.ts";
import * as swallowedError from "./bugs/swallowed-error.ts";
import type { Twins } from "./twins.ts";
import * as wholeObject from "./bugs/whole-object.ts";
import * as writesEveryRun from "./bugs/writes-every-run.ts";

/** Each bug, and the kinds of plans that must find it. */
export const bugs: readonly (readonly [Twins, ...TestPlan["kind"][]])[] = [
  [alreadyExistsFails, "crash", "lost answer"],
  [childrenByLabels, "foreign object"],
  [counterInChild, "crash", "lost answer"],
  [counterInMemory, "crash"],
  [createWithoutKey, "crash", "lost answer"],
  [deleteThenCreate, "crash", "lost answer", "refused"],
  [doneBeforeDeed, "crash", "refused"],
  [filledWhenMade, "crash", "lost answer", "refused"],
  [listFromCache, "stale view"],
  [namedAfterGeneration, "unobserved", "down"],
  [noOwnerCheck, "foreign object"],
  [randomChildNames, "crash", "lost answer"],
  [recordBeforeCleanup, "crash", "lost answer"],
  [rememberedChildren, "deleted"],
  [rememberedInStatus, "down"],
  [renamedInMemory, "crash"],
  [statusAsTruth, "deleted"],
  [swallowedError, "refused"],
  [wholeObject, "interfered"],
  [writesEveryRun, "reconciled again"],
];
