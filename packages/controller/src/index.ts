/**
 * # @drover/controller
 *
 * The definitions that an author writes. A **resource** is a kind: its zod schemas are the only source of its types,
 * its CRD and its validation. A **controller** moves one object of that kind one step towards its spec. Nothing here
 * uses a cluster or a queue, and only `serverTime` reads a clock; `@drover/runtime` runs the definitions.
 *
 * The API server checks objects against the CRD, so the CRD must express everything that the schemas express. If it
 * cannot, `customResourceDefinition` throws, with the path and what to write instead. Checks that only code can make
 * are marked with `checkedAtRun`; rules that only Kubernetes has (rules in CEL, how lists merge, `immutable`) are
 * written in `.meta({ kubernetes: { ... } })`.
 *
 * Guarantees of the runtime to a reconcile:
 * - the object is fresh and parsed; a spec that does not parse never reaches it;
 * - a key never has two runs at once;
 * - if `finalize` is defined, the finalizer is persisted before the first reconcile, and removed only after `finalize`
 *   has succeeded;
 * - returning writes status with `observedGeneration` and `Ready=True`; throwing writes `Ready=False` with the reason;
 * - throwing retries with backoff; `RetryAfterError` waits; `ThrottledError` makes all runs that use an account wait;
 *   `TerminalError` parks until the object changes; a conflict with another write is retried soon and not reported.
 */
export { parseJson, writeJson } from "@drover/json";
export * from "./condition.ts";
export * from "./controller.ts";
export * from "./crd.ts";
export * from "./duration.ts";
export * from "./server-time.ts";
export * from "./errors.ts";
export { type ErrorFields, errorFields, errorText, messageOf } from "./error-fields.ts";
export { isSecretName, redact } from "./scrubbed.ts";
export { oneLine, unprintable } from "./plain-text.ts";
export {
  defineFunction,
  functionManifestOf,
  grantedPermissions,
  type DeployableFunction,
} from "./deployable-function.ts";
export { embeddedManifestsOf, NotEmbeddableError } from "./embedded-manifests.ts";
export {
  functionPodSpec,
  stopGraceOf,
  metricsVariables,
  portOf,
  serverVariables,
  duplicateVariable,
  type EnvVar,
} from "./function-pod.ts";
export { isPausedByAnnotation, pausedAnnotation, reconcileAtAnnotation } from "./object-annotations.ts";
export { runSettingsVariables } from "./pace-variables.ts";
export { type PermissionRule, type Scaling, defaultScaling } from "./function-deployment.ts";
export {
  type Access,
  accessCount,
  accessesOf,
  describeAccess,
  isGranted,
  type PolicyRule,
  resourceAttributesOf,
} from "./access.ts";
export {
  gatewayAccess,
  gatewayRules,
  type FollowedKind,
  bridgeAccess,
  followedKinds,
  neededAccess,
  permittedAccess,
  implicitAccess,
} from "./needed-access.ts";
export { webhookProblem } from "./why-not-called.ts";
export { leastPermissions, type Permissions } from "./least-permissions.ts";
export {
  type FunctionIdentity,
  functionQueueOf,
  hookPathOf,
  isUnregisteredQueue,
  namespaceOfQueue,
  namesQueueOf,
  type QueueName,
  queueOf,
  queueDisplayName,
} from "./function-identity.ts";
export type { HookDeclaration } from "./hook-declaration.ts";
export { InvalidControllerError } from "./invalid-controller.ts";
export type { Limits, Rate, Retry, RetryDefinition } from "./pace.ts";
export * from "./object-client.ts";
export * from "./object-key.ts";
export * from "./reconcile-function.ts";
export * from "./resource.ts";
export {
  hasNamesInCode,
  type Kind,
  type NamesContext,
  type NamesInCode,
  type OwnedKind,
  type WatchedKind,
  type WatchedInCode,
} from "./watched.ts";
export { serviceNameOf, webhookSecretOf } from "./function-names.ts";
export { testContext, type TestObject } from "./test-context.ts";
export { suggest } from "./meant.ts";
export { silentLog } from "./silent-log.ts";
export { checkedAtRun } from "./structural/checks.ts";
export { goPatternProblem } from "./structural/go-pattern.ts";
export { InvalidSchemaError } from "./structural/invalid-schema.ts";
export { immutable, type KubernetesMeta } from "./structural/kubernetes-meta.ts";
export type { SchemaProblem } from "./structural/place.ts";
export type {
  Json,
  NestedValidation,
  StructuralSchema,
  ValidationRule,
  ValueValidation,
} from "./structural/schema.ts";
