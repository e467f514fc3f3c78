/**
 * # @drover/kube
 *
 * The client of the API server; all other packages of Drover use it. Three parts, each usable alone:
 *
 * - **client**: `connect()` returns a `KubeClient`: get, list, create, replace, patch, delete and watch for any kind,
 *   named by a `ResourceRef`. Credentials and TLS material come from a kubeconfig or the pod's ServiceAccount, by way
 *   of @kubernetes/client-node; the HTTP part is our own. Replies are parsed on arrival, so a `KubeObject` always has a
 *   name, a uid and a version. A reply that no API server sends is a `MalformedReplyError`. A guarded view of a client
 *   writes only while its guard allows it.
 * - **reflector**: `runReflector()` follows one kind with list and watch. After any failure it reconnects or lists
 *   again. It emits the objects that were added, modified or deleted since its last event, also across interruptions.
 * - **events**: `eventRecorder()` writes Kubernetes Events. It merges repeats, limits the rate per object, and never
 *   delays a reconcile.
 *
 * The versions of two objects (`resourceVersion`) can be compared only if the objects are of the same kind.
 */
export type {
  DeleteOptions,
  FindOptions,
  JsonPatchStep,
  KubeClient,
  ListOptions,
  NewObject,
  Patch,
  ReadOptions,
  RequestOptions,
  WatchOptions,
  WriteGuard,
  WriteOutcome,
  WriteOptions,
} from "./client/client.ts";
export { connect, type ConnectOptions } from "./client/connect.ts";
export {
  type CredentialReader,
  type Credentials,
  type CredentialSource,
  contextNamespace,
  openCredentials,
} from "./credentials/credentials.ts";
export * from "./errors.ts";
export { type EventRecorder, eventRecorder, type EventRecorderOptions } from "./events/event-recorder.ts";
export type { RecordedEvent, Reporter } from "./events/recorded-event.ts";
export { digestOf, fingerprint, type Fingerprint } from "./fingerprint.ts";
export { KubeConfigError } from "./credentials/kubeconfig.ts";
export { isSecret, keyOf, type KubeObject, kubeObjectSchema } from "./objects/kube-object.ts";
export { isWellFormed } from "./objects/well-formed.ts";
export { readSecret, SecretError, secretValues } from "./objects/read-secret.ts";
export { listAll } from "./client/list-all.ts";
export { oldestFirst } from "./objects/oldest-first.ts";
export {
  createOrReplace,
  CrdRefusedError,
  installCrd,
  establishedRefOf,
  type InstallOptions,
  waitEstablished,
} from "./client/install-crd.ts";
export {
  type FieldPath,
  InvalidFieldPathError,
  isInMetadata,
  parseFieldPath,
  valuesAt,
} from "./field-path.ts";
export {
  type LabelRequirement,
  type LabelSelector,
  matchesLabels,
  selectorQuery,
} from "./objects/label-selector.ts";
export { type IndexEntry, valueTerms, isMatchingEntry } from "./filing.ts";
export {
  type IndexMapping,
  isIndexMapping,
  keysFor,
  type Lookup,
  type Mapping,
  type DirectMapping,
  type Reach,
  type Within,
} from "./mapping.ts";
export {
  isRelevantChange,
  type MappingResult,
  type MappingResults,
  mappingResultsOf,
  needsFullObject,
  type Subscription,
  unemittedView,
} from "./subscription.ts";
export { cachedObjectText, parseCachedObject } from "./cache/cached-object.ts";
export { openRunCache, type RunCache } from "./cache/run-cache.ts";
export { deltaText } from "./cache/object-delta.ts";
export type { Failure } from "./reflector/failure.ts";
export { changeEvents, deletionEvent } from "./reflector/change-events.ts";
export { isObjectEvent, type ObjectEvent, type ReflectorEvent } from "./reflector/object-event.ts";
export { type ResourceVersion, versionOrder, type VersionOrder } from "./objects/resource-version.ts";
export {
  type Reflector,
  type ReflectorOptions,
  type ReflectorStatus,
  runReflector,
} from "./reflector/run-reflector.ts";
export type { StreamStart } from "./reflector/stream-state.ts";
export { memorySeenIndex, type SeenChange, type SeenIndex, type SeenObject } from "./reflector/seen-index.ts";
export type { ObjectList } from "./client/reply.ts";
export { longestRetryAfter, retryAfter } from "./transport/retry-after.ts";
export {
  apiVersionOf,
  builtin,
  collectionPath,
  InvalidSegmentError,
  kindOf,
  resourceNameOf,
  objectPath,
  refOf,
  type ResourceRef,
  WrongScopeError,
} from "./objects/resource-ref.ts";
export type { WatchFrame } from "./client/watch-frames.ts";
