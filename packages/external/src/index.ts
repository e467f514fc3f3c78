/**
 * # @drover/external
 *
 * The parts that every controller of things outside the cluster needs (buckets, load balancers, databases), each
 * implemented once. An author writes a **port** to one kind of resource: observe, create, update, delete. Around it:
 *
 * - `reconcile-external.ts`, `finalize-external.ts`: the steps of a run.
 * - `ownership/`: how a run recognizes its own resource, whatever crashed when. Creation intents, the owner's mark,
 *   adoption. Nothing is changed before that.
 * - `settings/`: how a resource is compared with its spec and corrected.
 * - `external-port.ts`: the port. `external-spec.ts`: the fields that all specs and statuses of external resources have.
 *
 * Guarantees:
 *
 * - A resource of another owner is never changed or deleted: a run changes one only after it has itself seen the owner's
 *   uid on it, and checks it again before it deletes.
 * - No resource is lost: a run may end at any point, and the next one continues from the state on the server.
 * - If everything is as the spec asks, a run only reads.
 * - A setting that the spec does not name is neither read nor written, unless this object wrote it before: then it is
 *   removed. Items and tags of others stay as they are.
 * - A difference is reported before it is corrected.
 */
export type {
  AbsentResource,
  AccountListing,
  Creation,
  DeniedResource,
  ExternalPort,
  Observation,
  PresentResource,
  ResourceWords,
} from "./external-port.ts";
export { type ExternalContext, externalSpec, externalStatus } from "./external-spec.ts";
export { finalizeExternal } from "./finalize-external.ts";
export { maxRequestTime } from "./ownership/creation-intent.ts";
export { reservedPrefix, sameTags, type Tags } from "./ownership/tags.ts";
export { reconcileExternal } from "./reconcile-external.ts";
export {
  reference,
  type Reference,
  type Resolved,
  type ResolvedReferences,
  resolveReferences,
} from "./references.ts";
export { isList } from "./settings/difference.ts";
export {
  idsIn,
  type Setting,
  type SettingChange,
  type SettingItems,
  SettingRefusal,
  singleSetting,
  type SettingValue,
} from "./settings/setting.ts";
export { TooManyRequestsError } from "./throttle.ts";
