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
export { usualKubeconfig } from "./config.ts";
export { openLog, tellOfRun } from "./log.ts";
export { type Process, runProcess } from "./run-process.ts";
export { logUncaught, stopOnSignals } from "./process-lifecycle.ts";
export { openRegistry, queueMetrics, type RunMetrics, runMetrics } from "./process-metrics.ts";
export type { Answer, Check } from "./process-server.ts";
export type { ReadOf } from "./read-access.ts";
export { recent } from "./recent.ts";
export {
  type Admission,
  type AdmissionLimits,
  type IncomingBody,
  openAdmission,
  usualAdmission,
} from "./admission.ts";
export { BodyRefusedError } from "./read-incoming.ts";
export { type PublicServer, servePublicly } from "./public-server.ts";
export { answering, type AnsweringParts, type TakenRequest } from "./answering.ts";
export { folderSecrets, FolderSecretError } from "./folder-secrets.ts";
export {
  functionApp,
  type ServedFunction,
  servedSettings,
  type ServedSettings,
  serveFunction,
} from "./serve-function.ts";
export { conditionsOf } from "./live-object.ts";
export { type Announce, reconcileOnce, type ReconcileParts } from "./reconcile-once.ts";
export { nameOnce, type NameParts } from "./name-once.ts";
export { type DeclaredFunction, declaredFunctions, followDeclaredFunctions } from "./declared-functions.ts";
export {
  followPermittedFunctions,
  notListed,
  type PermittedFunctionsOptions,
} from "./permitted-functions.ts";
export { type FunctionDefinition, runFunction, serveController } from "./run-function.ts";
export {
  askAnnotation,
  type Author,
  AuthorEpoch,
  authorAnnotations,
  authorOf,
  epochName,
  groupsText,
} from "./authors.ts";
export {
  deniedOf,
  permitLabel,
  permitName,
  type Permits,
  type PermittedUse,
  useAskedFor,
} from "./permits.ts";
export { atMost } from "./at-most.ts";
export { isOver, pause } from "./pause.ts";
export { serveTenants } from "./serve-tenants.ts";
export { openTenantRedis, type TenantRedis, TenantRedisError } from "./tenant-redis.ts";
export { type PartSettings, partSettings } from "./part-settings.ts";
export { keepPartLease, type Part } from "./part-lease.ts";
export {
  absentAsCondition,
  absentCondition,
  type AbsentPart,
  type AbsentParts,
  absentWords,
  leaseOf,
  readLease,
  watchParts,
} from "./absent-parts.ts";
export { namespaceName, redisUrlForPods, type Tenant } from "./tenants-file.ts";
export { type SparingWarnings, sparingWarnings } from "./sparing-warnings.ts";
export {
  certificatesFile,
  flag,
  InvalidSettingsError,
  parsedBy,
  plain,
  readSettings,
  secretFile,
  span,
  wholeNumber,
  wordsIn,
  type Environment,
} from "./settings.ts";
