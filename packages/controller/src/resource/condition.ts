/**
 * A condition of a status, as Kubernetes' API conventions define it (`meta/v1` Condition). `observedGeneration` and
 * `lastTransitionTime` are set by the runtime: a reconcile returns the current state, not since when it holds.
 */
export interface Condition {
  /** CamelCase, such as `Ready`. */
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** One CamelCase word, for programs. */
  readonly reason: string;
  /** A sentence for people: the current state and, if something is wrong, what to do. */
  readonly message: string;
}

/** A condition as stored in an object's status. */
export interface StatusCondition extends Condition {
  readonly observedGeneration: number;
  /** RFC 3339: when `status` last changed. */
  readonly lastTransitionTime: string;
}

/** A time as Kubernetes writes it: RFC 3339, without fractions of a second. */
export const timestamp = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;

/** The condition that every Drover object carries; `kubectl wait --for=condition=Ready` waits for it. */
export const readyCondition = "Ready";

/** The condition of a ReconcileFunction: a Pod of its newest version was Ready, and no older Pod is left. */
export const rolledOutCondition = "RolledOut";

/** The condition of an object that is not reconciled yet, as kstatus defines it: True, or absent. */
export const reconcilingCondition = "Reconciling";
/** The condition of an object that needs a user's action or a change, as kstatus defines it: True, or absent. */
export const stalledCondition = "Stalled";

/**
 * The limits of a condition in the API server (the markers of `meta/v1` Condition). The CRD of every kind contains
 * them: the API server refuses the entire status if one message is too long.
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
