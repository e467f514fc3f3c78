import { type Condition, sessionLabel } from "@drover/controller";

/**
 * The condition with which a deployed function acknowledges a session: since it was written, no run of the function has
 * called the author's code.
 */
export const sessionCondition = "UnderDevelopment";

/** The condition that acknowledges a session. */
export const acknowledgement = (session: string): Condition => ({
  type: sessionCondition,
  status: "True",
  reason: "DevSession",
  message: `The session ${session} of drover dev reconciles this object. The deployed function does not, until the label ${sessionLabel} is removed.`,
});
