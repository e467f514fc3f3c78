/**
 * # @drover/kube
 *
 * The client of the API server; all other packages of Drover use it. Four parts, each usable alone:
 *
 * - **client**: `connect()` returns a `KubeClient`: get, list, create, replace, patch, apply, delete and watch for any kind,
 *   named by a `ResourceRef`. Credentials and TLS material come from a kubeconfig or the pod's ServiceAccount, by way
 *   of @kubernetes/client-node; the HTTP part is our own. Replies are parsed on arrival, so a `KubeObject` always has a
 *   name, a uid and a version. A reply that no API server sends is a `MalformedReplyError`. A guarded view of a client
 *   writes only while its guard allows it.
 * - **reflector**: `runReflector()` follows one kind with list and watch. After any failure it reconnects or lists
 *   again. It emits the objects that were added, modified or deleted since its last event, also across interruptions.
 * - **dry-run**: `openDryRun()` returns a client that tries the writes of a run without storing them.
 * - **events**: `eventRecorder()` writes Kubernetes Events. It merges repeats, limits the rate per object, and never
 *   delays a reconcile.
 *
 * The versions of two objects (`resourceVersion`) can be compared only if the objects are of the same kind.
 */
export {
  type FindOptions,
  type KubeClient,
  type NewObject,
  type WatchOptions,
  type WriteGuard,
  type WriteOutcome,
} from "./client/client.ts";
export type { PodCall } from "./client/pod-requests.ts";
export { connect } from "./client/connect.ts";
export {
  type CredentialReader,
  type Credentials,
  type CredentialSource,
  contextNamespace,
  openCredentials,
} from "./credentials/credentials.ts";
export {
  isApiError,
  type ApiErrorKind,
  ApiError,
  ConnectionError,
  MalformedReplyError,
  WriteRefusedError,
} from "./errors.ts";
export { eventRecorder } from "./events/event-recorder.ts";
export type { DryRunWrite } from "./dry-run/dry-run-log.ts";
export { type DryRun, openDryRun } from "./dry-run/open-dry-run.ts";
export { isSecret, keyOf, type KubeObject, kubeObjectSchema } from "./objects/kube-object.ts";
export type { ChildOf } from "./objects/child-of.ts";
export { mergePatch } from "./objects/merge-patch.ts";
export { controllerOf, controllerReference, isControlledBy } from "./objects/controller-of.ts";
export { type FieldConflict, fieldConflicts } from "./field-conflicts.ts";
export { type ManagedFields, managedFieldsOf } from "./objects/managed-fields.ts";
export { isWellFormed } from "./objects/well-formed.ts";
export { readSecret, SecretError, secretValues } from "./objects/read-secret.ts";
export { listAll } from "./client/list-all.ts";
export { isTrueIn, type PodStatus, podStatusOf, unscheduledReason } from "./objects/pod-status.ts";
export { oldestFirst } from "./objects/oldest-first.ts";
export { createOrReplace, installCrd, establishedRefOf, waitEstablished } from "./client/install-crd.ts";
export {
  type LabelSelector,
  labelSelectorIn,
  matchesLabels,
  selectorQuery,
} from "./objects/label-selector.ts";
export {
  type IndexEntry,
  type MappingResult,
  type MappingResults,
  unemittedView,
  type View,
} from "./reflector/mapping-result.ts";
export { cachedObjectText, parseCachedObject } from "./cache/cached-object.ts";
export { openRunCache, type RunCache } from "./cache/run-cache.ts";
export { deltaText } from "./cache/object-delta.ts";
export { changeEvents, deletionEvent } from "./reflector/change-events.ts";
export { isObjectEvent, type ObjectEvent, type ReflectorEvent } from "./reflector/change-events.ts";
export { type ResourceVersion, versionOrder } from "./objects/kube-object.ts";
export {
  type Reflector,
  type ReflectorOptions,
  type ReflectorStatus,
  runReflector,
} from "./reflector/run-reflector.ts";
export { memorySeenIndex, type SeenChange, type SeenIndex, type SeenObject } from "./reflector/seen-index.ts";
export {
  apiVersionOf,
  builtin,
  collectionPath,
  kindOf,
  resourceNameOf,
  objectPath,
  refOf,
  type ResourceRef,
} from "./objects/resource-ref.ts";
export { type WatchFrame } from "./client/watch-frames.ts";
