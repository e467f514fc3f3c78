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
 * A run, file by file, in `run/`: `reconcile-once` (the order of the steps), `object-reader` (the object, live or
 * cached), `finalizer`, `secret-reader`, `error-outcome` (the outcome of an error). `schema/parse-object` checks the
 * object, and `status/status-writer` writes its status if that has changed.
 */
export {
  processSettings,
  workerSettings,
  queueTimes,
  type FunctionSettings,
  functionSettings,
} from "./process/function-settings.ts";
export { fileProblem } from "./process/file-problem.ts";
export { openLog } from "./process/log.ts";
export { type Process, runProcess } from "./process/run-process.ts";
export { logUncaught, stopOnSignals } from "./process/process-lifecycle.ts";
export { openRegistry, queueMetrics, runMetrics } from "./process/process-metrics.ts";
export type { JsonEndpoint } from "./http/process-server.ts";
export type { ReadAttributes } from "./http/read-authorizer.ts";
export { cacheWithTtl } from "./http/cache-with-ttl.ts";
export {
  type Admission,
  type AdmissionLimits,
  type IncomingBody,
  openAdmission,
  defaultAdmissionLimits,
} from "./http/admission.ts";
export {
  type MessageToVerify,
  receiveMessage,
  refusalResponse,
  refuseForm,
  verifyMessage,
} from "./http/receive-message.ts";
export { type PublicServer, servePublicly } from "./http/public-server.ts";
export { webhookHandler } from "./webhook/webhook-handler.ts";
export { webhookApp, servedSettings, type ServedSettings, serveFunction } from "./webhook/serve-function.ts";
export { conditionsOf } from "./schema/parse-object.ts";
export { acknowledgement } from "./status/session-condition.ts";
export { type DevSession, placeIn, sessionMark, type SessionMark } from "./run/developed-object.ts";
export { reconcileOnce, type ReconcileOptions } from "./run/reconcile-once.ts";
export { hasFinalizer, removeFinalizer } from "./run/finalizer.ts";
export { mapOnce } from "./run/map-once.ts";
export {
  type DeclaredFunction,
  declaredFunctions,
  followDeclaredFunctions,
} from "./functions/declared-functions.ts";
export {
  followPermittedFunctions,
  listingProblem,
  type PermittedFunctionsOptions,
} from "./functions/permitted-functions.ts";
export type { FunctionDefinition } from "./worker/function-definition.ts";
export { runFunction, serveController } from "./worker/run-function.ts";
export {
  defaultEgress,
  type Egress,
  egressPeers,
  metadataNetworks,
  parseDestinations,
  parseNetworks,
} from "./network/egress.ts";
export { type FunctionNetwork, functionPolicy } from "./network/function-policy.ts";
export { type HostedFunction, hostFunctions } from "./host/host-functions.ts";
export { openReconciler } from "./worker/open-reconciler.ts";
export { openWorker, type Worker, type WorkerProcess } from "./worker/open-worker.ts";
export {
  requestAnnotation,
  type Author,
  AuthorEpoch,
  authorAnnotations,
  authorOf,
  authorEpochName,
  authorPolicyName,
} from "./functions/authors.ts";
export { annotationsOfAuthor, type CurrentUser, currentUser } from "./functions/current-author.ts";
export {
  deniedAccesses,
  permitLabel,
  permitName,
  type Permits,
  type PermittedUse,
  requestedUse,
} from "./functions/permits.ts";
export { serveTenants } from "./tenants/serve-tenants.ts";
export { openTenantRedis, type TenantRedis, TenantRedisError } from "./tenants/tenant-redis.ts";
export { partSettings } from "./parts/part-settings.ts";
export { keepPartLease, leaseHolder, type Part } from "./parts/part-lease.ts";
export {
  absenceCondition,
  absentConditionType,
  type AbsentPart,
  type AbsentParts,
  absenceMessage,
  leaseOf,
  readLease,
  versionOf,
  watchParts,
} from "./parts/absent-parts.ts";
export { namespaceName, redisUrlForPods, type Tenant } from "./tenants/tenants-file.ts";
export { throttledWarnings } from "./process/throttled-warnings.ts";
export { defaultKubeconfig } from "./process/config.ts";
export {
  certificatesFile,
  flag,
  parseWith,
  nonSecret,
  readSettings,
  readSecretFile,
  secretFile,
  durationInMs,
  wholeNumber,
  splitWords,
} from "./process/settings.ts";
