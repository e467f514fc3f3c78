import type { Draft, DraftSet } from "./draft.ts";
import { isSameTemplate } from "./template.ts";

/** The set of the Deployment's template: the oldest, should there be several. */
export const newSetOf = ({ deployment, sets }: Draft): DraftSet | undefined =>
  sets.find(({ set }) => isSameTemplate(set.spec.template, deployment.spec.template));

export const oldSetsOf = (draft: Draft): DraftSet[] => {
  const newest = newSetOf(draft);
  return draft.sets.filter((one) => one !== newest);
};
