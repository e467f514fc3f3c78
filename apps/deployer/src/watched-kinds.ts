import { type ControllerDefinition, ReconcileFunction, functionLabel } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";

const labelledByFunction = {
  labelSelector: { matchExpressions: [{ key: functionLabel, operator: "Exists" as const }] },
};
const ownedKinds = [
  ...[builtin.secret, builtin.serviceAccount, builtin.service],
  ...[builtin.role, builtin.networkPolicy],
];

/** The kinds that the deployer watches: ReconcileFunctions, and the objects that it creates for them. */
export const watchedKinds = {
  for: ReconcileFunction,
  only: { changed: ["spec", "metadata.annotations", "status.follows", "status.problem"] },
  owns: [
    { kind: kindOf(builtin.pod), ...labelledByFunction, changed: ["status", "metadata.deletionTimestamp"] },
    ...ownedKinds.map((ref) => ({ kind: kindOf(ref), ...labelledByFunction })),
  ],
  // Not owned by their function: see `ownedByInstallation`.
  watches: [{ kind: kindOf(builtin.roleBinding), ...labelledByFunction, names: { label: functionLabel } }],
  resyncEvery: "10m",
  retry: { first: "200ms", longest: "1m" },
} satisfies Omit<ControllerDefinition<typeof ReconcileFunction>, "reconcile">;
