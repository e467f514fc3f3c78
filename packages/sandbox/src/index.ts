/**
 * @drover/sandbox: a Kubernetes API server for the demo and for tests.
 *
 * It serves real HTTP, so kubectl and every client can use it. It keeps objects in memory, so it starts at once and
 * loses everything at its end. For the requests of its callers it behaves like kube-apiserver: resourceVersions, list
 * and watch with bookmarks, paging and 410, optimistic concurrency, server-side apply, finalizers, status, generations,
 * custom resources with their schemas, and errors as Status objects. It also does the work of kube-controller-manager for namespaces
 * and owners. Of built-in kinds it has those that the demo, the testing kit and the tests of the bridge make. Other
 * features answer 501 with the place to test them. README.md lists the features and the tests that need them.
 *
 * The way of a request through the folders:
 *   http/          entrance.ts checks the token and refuses web pages; application.ts serves faults, health and
 *                  discovery; routes.ts selects the type, the object and the operation; representation.ts and
 *                  table.ts shape the answer; status.ts has the errors, missing.ts those for features that the
 *                  sandbox lacks; stale-view.ts serves the same objects at another address, as of one moment
 *   reading/       get, list and watch, with their selectors
 *   writing/       create, update, patch, apply and delete; managed-fields.ts records the manager of each field
 *   fields/        sets of fields and their owners; comparison and merge of objects by the types of their fields
 *   admission/     the decisions of the server about metadata, status and validity
 *   kinds/         the table of built-in kinds, and the code of some of them
 *   definitions/   CustomResourceDefinitions: their validation, their types, and the controllers for them
 *   rules/         the rules of definitions in CEL: their evaluation, and the functions in them
 *   schema/        pruning, defaults and validation of objects by schemas, and of the schemas themselves
 *   storage/       objects, one counter of versions, and the changes from which watches resume
 *   controllers/   empty deleted namespaces, and collect garbage
 *
 * Guarantees for tests: when a response is sent, its write and all effects of it (served definitions, emptied
 * namespaces, deleted dependents, events to watches) have happened. Only names, uids, addresses and the length of a
 * watch are random.
 *
 * Caveats: no TLS; one bearer token, and no authorization; no logs or exec; no controller makes pods of a Deployment;
 * pods on a node stay after their deletion until something ends them, as tools/process-kubelet does. Versions of a definition differ in name and schema only. v1 and events.k8s.io/v1 Events are the
 * same objects. conformance/not-checked.ts lists what the sandbox accepts without a check; conformance/README.md lists
 * what was compared with a real server, and what differs.
 */

export { isArray, isObject, sortedJson } from "./json.ts";
export type { Json, JsonObject } from "./json.ts";
export { startSandbox } from "./sandbox.ts";
export type { Sandbox, SandboxOptions } from "./sandbox.ts";
export type { StaleView } from "./http/stale-view.ts";
export { isMergedSet, mergeKeyOf } from "./fields/list-keys.ts";
