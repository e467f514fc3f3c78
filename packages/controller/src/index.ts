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
export * from "./resource/condition.ts";
export {
  defineController,
  controllerFrom,
  type ControllerDefinition,
  type Controller,
  controllerNamePattern,
  defaultRunSettings,
  fieldManagerOf,
  controllerOfFinalizer,
  finalizerOf,
} from "./definition/controller.ts";
export {
  type Announcement,
  type OutsidePlan,
  type OutsideWrite,
  type GoneContext,
  type ReconcileContext,
  type ReconcileResult,
} from "./definition/reconcile-context.ts";
export { customResourceDefinition } from "./resource/crd.ts";
export {
  parseDuration,
  type Milliseconds,
  type Duration,
  maxDuration,
  durationSchema,
  InvalidDurationError,
  serverTime,
} from "./duration.ts";
export { TerminalError, RetryError, ConflictError, RetryAfterError, ThrottledError } from "./errors.ts";
export { errorFields, errorText, messageOf } from "./error-fields.ts";
export { isSecretName, redact } from "./redact.ts";
export { oneLine, unprintable } from "./plain-text.ts";
export {
  defineFunction,
  functionManifestOf,
  grantedPermissions,
  type DeployableFunction,
} from "./function/deployable-function.ts";
export { embeddedManifestsOf, NotEmbeddableError } from "./function/embedded-manifests.ts";
export {
  functionPodSpec,
  stopGraceOf,
  metricsVariables,
  planVariables,
  portOf,
  pulledFunctionVariable,
  redisVariables,
  serverVariables,
  duplicateVariable,
  type EnvVar,
  probesOf,
  webhookFolder,
  webhookVariables,
} from "./function/function-pod.ts";
export {
  isPausedByAnnotation,
  lastAppliedAnnotation,
  parentAnnotation,
  parentText,
  pausedAnnotation,
  reconcileAtAnnotation,
} from "./object/object-annotations.ts";
export { sessionLabel, sessionMarkAnnotation, sessionOf } from "./object/dev-session.ts";
export { runSettingsVariables } from "./function/run-settings-variables.ts";
export { type PermissionRule, type Scaling, defaultScaling } from "./function/deployment-declarations.ts";
export {
  type Access,
  accessCount,
  accessesOf,
  describeAccess,
  isGranted,
  type PolicyRule,
  resourceAttributesOf,
} from "./access/access.ts";
export {
  gatewayAccess,
  gatewayRules,
  rulesOfCalled,
  type FollowedKind,
  bridgeAccess,
  followedKinds,
  neededAccess,
  permittedAccess,
  implicitAccess,
} from "./access/needed-access.ts";
export { declaresChildren, isSecretKind, webhookProblem } from "./function/webhook-problem.ts";
export type { Permissions } from "./access/least-permissions.ts";
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
} from "./function/function-identity.ts";
export type { HookDeclaration } from "./function/hook-declaration.ts";
export { InvalidControllerError } from "./definition/invalid-controller.ts";
export type { Limits, Rate } from "./definition/run-settings.ts";
export {
  type Child,
  type ChildObject,
  childObjectSchema,
  type Compose,
  composeContext,
  type ComposeContext,
  type ComposeResult,
  markPrefix,
  maxChildren,
  type Observed,
  observedObjects,
  type ObservedObjects,
  type SettledChild,
  settledChildSchema,
} from "./definition/children.ts";
export {
  type FieldPath,
  InvalidFieldPathError,
  isInMetadata,
  parseFieldPath,
  valuesAt,
} from "./object/field-path.ts";
export { parentsOf } from "./object/parents-of.ts";
export { keysNamedBy, type Reach } from "./object/named-keys.ts";
export * from "./object/object-client.ts";
export * from "./object/object-key.ts";
export { objectMetadataFields } from "./object/object-metadata-fields.ts";
export {
  type Campaign,
  ReconcileFunction,
  type ReconcileFunctionStatus,
  type CampaignProgress,
  type ReconcileFunctionSpec,
} from "./function/reconcile-function.ts";
export { type FunctionDeployment, reconcileFunctionOf } from "./function/reconcile-function-of.ts";
export type { Predicates } from "./function/watched-kind-declaration.ts";
export {
  defineResource,
  foreignResource,
  pluralOf,
  type Resource,
  type SpecOf,
  type StatusOf,
  type ObjectStatus,
  type ObjectMetadata,
  type OwnerReference,
} from "./resource/resource.ts";
export {
  hasNamesInCode,
  isRelated,
  type Kind,
  type NamingObject,
  type NamesInCode,
  type OwnedKind,
  type RelatedInCode,
  type RelatedKind,
  type WatchedInCode,
  type WatchedKind,
} from "./definition/watched-kinds.ts";
export {
  type FunctionName,
  functionLabel,
  functionLabels,
  functionSelector,
  namespaceLabel,
} from "./function/function-labels.ts";
export { serviceNameOf, webhookSecretOf } from "./function/function-names.ts";
export { testContext } from "./definition/test-context.ts";
export { suggest } from "./suggest.ts";
export { type Log, silentLog } from "./log.ts";
export { checkedAtRun } from "./structural/checks.ts";
export { goPatternProblem } from "./structural/go-pattern.ts";
export { immutable } from "./structural/kubernetes-meta.ts";
