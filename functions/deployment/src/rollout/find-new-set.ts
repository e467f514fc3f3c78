import type { Draft, DraftSet } from "../draft.ts";

/** The set of the Deployment's template; the oldest one if there are several. */
export const newSetOf = ({ sets }: Draft): DraftSet | undefined => sets.find(({ isCurrent }) => isCurrent);

export const oldSetsOf = (draft: Draft): DraftSet[] => {
  const newest = newSetOf(draft);
  return draft.sets.filter((one) => one !== newest);
};
