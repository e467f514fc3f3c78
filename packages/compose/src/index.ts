/**
 * # @drover/compose
 *
 * Controllers that declare the children of an object, and leave the rest to Drover. `composeController` makes a
 * controller of a function `compose`, which returns the children that should exist; it has no client, and no effects.
 *
 * One run (`composer.ts`) goes through these files in their order:
 *
 * - `observed/observe-children.ts` finds the children that exist, by their labels and their controller reference, or else
 *   by the record on their parent (`parent.ts`);
 * - `observed/read-related.ts` reads the objects that the function declares to read;
 * - `checked-children.ts` checks what `compose` has returned, and `record-elsewhere.ts` records on the parent which
 *   children cannot have an owner reference;
 * - `apply-waves.ts` goes through the children, wave by wave (`readiness.ts` says when a child is ready), and
 *   `apply-child.ts` makes one as it is declared, if `satisfied.ts` finds a difference; `correction.ts` slows down the
 *   corrections of a child that others keep changing;
 * - `prune.ts` deletes or releases the children that are no longer declared;
 * - `compose-outcome.ts` makes conditions and Events of what was done, and a list for `drover plan`.
 *
 * `marks.ts` has the labels and annotations by which children are found again.
 */
export {
  composeController,
  type ComposeDefinition,
  type RelatedDefinition,
  type RelatedNames,
} from "./compose-controller.ts";
export type { ChildOutcome } from "./compose-outcome.ts";
export { type Composer, openComposer } from "./composer.ts";
