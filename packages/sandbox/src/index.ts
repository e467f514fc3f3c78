/**
 * @drover/sandbox: a Kubernetes API server for demos and tests.
 *
 * Real HTTP, so kubectl and every client work against it; objects in memory, so it starts in a moment and forgets
 * everything at its end. It behaves like kube-apiserver where controllers and kubectl can tell: resourceVersions, list
 * and watch with bookmarks, paging and 410, optimistic concurrency, managedFields and server-side apply, finalizers,
 * status and scale, generations, custom resources with their schemas, and errors as Status objects; and like
 * kube-controller-manager where objects go with their owners. What it does not have answers 501 and says where to test
 * that instead. README.md has the table of what is there, and which test needs it.
 *
 * How a request is served:
 *   entrance.ts          who may ask: no web page, and nothing without the token
 *   application.ts       HTTP: faults first, then health and discovery, then resources; refusals as Status objects
 *   routes.ts            path -> type, namespace, name; verb -> what is done; missing.ts: what is not there
 *   reads.ts, watch.ts   get, list, watch; representation.ts and table.ts say in which shape they leave
 *   writes.ts            create, update, patch, apply; deletions.ts; admission.ts decides about metadata, status and
 *                        validity
 *   field-tracking.ts    who writes, and what comes to be owned: managed-fields.ts keeps it, server-side-apply.ts merges
 *                        by it, over field-sets.ts, merge-schema.ts and structured-*.ts, which know no Kubernetes
 *   scale.ts             autoscaling/v1 Scales of what has one
 *   store.ts             objects, one counter of versions, the history that watches resume from
 *   built-in-types.ts    the table of built-in kinds, with workload-types.ts and small-kinds.ts; custom-resources.ts makes
 *                        the same from definitions
 *   schema-*.ts          pruning, defaults and validation, for built-in kinds and definitions alike; string-formats.ts has
 *                        the formats of texts, ratcheting.ts what an update may leave wrong
 *   structural-schema.ts, openapi-schema.ts   what the schema of a definition may say
 *   stale-view.ts        the same objects behind another address, as they were at one moment
 *   pods.ts              binding to a node, once, and deletion after a grace; pod-schema.ts, pod-defaults.ts and
 *                        pod-validation.ts are its spec; workloads.ts and stateful-sets.ts have what holds
 *                        templates of them
 *   services.ts          Services; service-addresses.ts allots loopback addresses to them
 *   definition-lifecycle.ts  what the server's own controllers do: accept names, establish definitions and end them;
 *   namespace-lifecycle.ts   what kube-controller-manager does: empty deleted namespaces,
 *   garbage-collection.ts    and take along what deleted objects own
 *
 * Guarantees for tests: a write and all that follows from it (served definitions, emptied namespaces, collected
 * dependents, events to watches) has happened when its response is sent. Nothing is random but names, uids, addresses
 * and the length of a watch.
 *
 * Caveats, against a real one: no TLS; one bearer token, and no authorization behind it; no logs or exec; nothing makes pods of a
 * Deployment; CEL rules of definitions are not evaluated (conformance/not-checked.ts lists all that is not looked at), and versions differ in name and schema only, so that fields
 * owned in one are owned in all; of the large specs (Pod, Deployment, Service) all fields and defaults are known, of
 * what can be wrong in them the more usual; quantities stay as they are written; no node is brought: pods that are bound
 * to one and deleted stay until something ends them, as tools/node does; of protobuf bodies only the small kinds',
 * Deployments' and Services' are read. v1 and events.k8s.io/v1 Events are one
 * store, as in a real one. What was compared with a real one, and what still differs: conformance/README.md.
 */
export type { FaultAnswer, Faults, SandboxRequest } from "./http/faults.ts";
export { isArray, isObject, sortedJson } from "./json.ts";
export type { Json, JsonObject } from "./json.ts";
export type { KubeObject } from "./kube-object.ts";
export { startSandbox } from "./sandbox.ts";
export type { Sandbox, SandboxOptions } from "./sandbox.ts";
export type { StaleView } from "./http/stale-view.ts";
export { isMergedSet, mergeKeyOf } from "./writing/strategic-merge.ts";
