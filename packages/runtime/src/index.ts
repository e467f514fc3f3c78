/**
 * # @drover/runtime
 *
 * Runs what `@drover/controller` defines. `reconcileOnce` is one run of one key, from the read of the object to the
 * outcome; `runFunction` is the process around it: settings, logs, metrics, health, and a stop that lets runs end. The
 * apps use the parts of a process as well.
 *
 * Tenants that do not trust each other have a Redis each: `tenants-file` reads the setting, `tenant-redis` keeps the
 * connections.
 *
 * A run, file by file: `reconcile-once` (the order of the steps), `live-object` (parsing), `finalizer`, `stated-status`
 * (the status, and if it must be written), `outcome` (the outcome of an error), `secrets`.
 */
export * from "./function-settings.ts";
export { defaultKubeconfig } from "./config.ts";
export { openLog, logRun } from "./log.ts";
export { type Process, runProcess } from "./run-process.ts";
export { logUncaught, stopOnSignals } from "./process-lifecycle.ts";
export { openRegistry, queueMetrics, type RunMetrics, runMetrics } from "./process-metrics.ts";
export type { JsonEndpoint, ReadinessCheck } from "./process-server.ts";
export type { ReadAttributes } from "./read-access.ts";
export { cacheWithTtl } from "./recent.ts";
export {
  type Admission,
  type AdmissionLimits,
  type IncomingBody,
  openAdmission,
  defaultAdmissionLimits,
} from "./admission.ts";
export { BodyRefusedError } from "./read-incoming.ts";
export { type PublicServer, servePublicly } from "./public-server.ts";
export { webhookHandler, type WebhookHandlerOptions, type WebhookRequest } from "./answering.ts";
export { folderSecrets, FolderSecretError } from "./folder-secrets.ts";
export {
  webhookApp,
  type ServedFunction,
  servedSettings,
  type ServedSettings,
  serveFunction,
} from "./serve-function.ts";
export { conditionsOf } from "./live-object.ts";
export { type Announce, reconcileOnce, type ReconcileOptions } from "./reconcile-once.ts";
export { mapOnce, type MapOnceOptions } from "./name-once.ts";
export { type DeclaredFunction, declaredFunctions, followDeclaredFunctions } from "./declared-functions.ts";
export {
  followPermittedFunctions,
  listingProblem,
  type PermittedFunctionsOptions,
} from "./permitted-functions.ts";
export { type FunctionDefinition, runFunction, serveController } from "./run-function.ts";
export {
  requestAnnotation,
  type Author,
  AuthorEpoch,
  authorAnnotations,
  authorOf,
  authorEpochName,
  formatGroups,
} from "./authors.ts";
export {
  deniedAccesses,
  permitLabel,
  permitName,
  type Permits,
  type PermittedUse,
  requestedUse,
} from "./permits.ts";
export { waitAtMost } from "./at-most.ts";
export { isAborted, sleepUnlessAborted } from "./pause.ts";
export { serveTenants } from "./serve-tenants.ts";
export { openTenantRedis, type TenantRedis, TenantRedisError } from "./tenant-redis.ts";
export { type PartSettings, partSettings } from "./part-settings.ts";
export { keepPartLease, type Part } from "./part-lease.ts";
export {
  absenceCondition,
  absentConditionType,
  type AbsentPart,
  type AbsentParts,
  absenceMessage,
  leaseOf,
  readLease,
  watchParts,
} from "./absent-parts.ts";
export { namespaceName, redisUrlForPods, type Tenant } from "./tenants-file.ts";
export { type ThrottledWarnings, throttledWarnings } from "./sparing-warnings.ts";
export {
  certificatesFile,
  flag,
  InvalidSettingsError,
  parseWith,
  nonSecret,
  readSettings,
  secretFile,
  durationInMs,
  wholeNumber,
  splitWords,
  type EnvironmentVariables,
} from "./settings.ts";
