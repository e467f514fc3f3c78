/**
 * A condition of a status, as Kubernetes' API conventions define it (`meta/v1` Condition). `observedGeneration` and
 * `lastTransitionTime` are the runtime's to set: a reconcile says what is so, not since when.
 */
export interface Condition {
  /** CamelCase, such as `Ready`. */
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** CamelCase, one word for programs. */
  readonly reason: string;
  /** A sentence for people: what is so and, where something is wrong, what to do. */
  readonly message: string;
}

/** A condition as it stands in an object's status. */
export interface StatedCondition extends Condition {
  readonly observedGeneration: number;
  /** RFC 3339, when `status` last changed. */
  readonly lastTransitionTime: string;
}

/** A time as Kubernetes writes it: RFC 3339, in whole seconds. */
export const timestamp = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;

/** The condition that every Drover object carries; `kubectl wait --for=condition=Ready` waits for it. */
export const ready = "Ready";

/** The condition of a ReconcileFunction: a Pod of its newest version was Ready, and no Pod of an older one is left. */
export const rolledOut = "RolledOut";

/** The condition of an object that is not as asked for yet, as kstatus has it: it is True, or is not there. */
export const reconciling = "Reconciling";
/** The condition of an object that needs a person or a change, as kstatus has it: it is True, or is not there. */
export const stalled = "Stalled";

/**
 * What the API server takes in a condition (`meta/v1` Condition's own markers). The CRD of every kind carries these
 * bounds: a status whose message is too long would be refused whole.
 */
export const conditionLimits = {
  type: {
    maxLength: 316,
    pattern:
      "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
  },
  reason: { minLength: 1, maxLength: 1024, pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" },
  message: { maxLength: 32_768 },
} as const;
