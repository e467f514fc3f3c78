/**
 * @drover/sandbox: a Kubernetes API server for demos and tests.
 *
 * Real HTTP, so kubectl and every client work against it; objects in memory, so it starts in a moment and forgets
 * everything at its end. It behaves like kube-apiserver where controllers can tell: resourceVersions, list and watch
 * with bookmarks, paging and 410, optimistic concurrency, finalizers, the status subresource, generations, custom
 * resources with their schemas, and errors as Status objects. What it does not have answers 501 and says so.
 *
 * How a request is served:
 *   sandbox.ts           the HTTP server, faults first, then discovery or a resource
 *   routes.ts            path -> type, namespace, name; verb -> what is done
 *   reads.ts, watch.ts   get, list, watch         representation.ts, table.ts   in which shape they leave
 *   writes.ts            create, update, patch, delete; admission.ts decides about metadata, status and validity
 *   store.ts             objects, one counter of versions, the history that watches resume from
 *   built-in-types.ts    the table of built-in kinds; custom-resources.ts makes the same from definitions
 *   lifecycle.ts         what controllers do in a real cluster: establish definitions, empty deleted namespaces
 *
 * Caveats, against a real one: no TLS, authentication or authorisation; no server-side apply, managedFields, scale,
 * logs or exec; no garbage collection by owner reference; CEL rules of definitions are not evaluated and conversion
 * between versions is by name only; built-in kinds other than the small ones (ConfigMap, Secret, Lease, Event, RBAC)
 * are stored without looking at their spec; integers beyond 2^53 lose precision.
 */
export type { FaultAnswer, Faults, SandboxRequest } from "./faults.ts";
export type { Json, JsonObject } from "./json.ts";
export type { KubeObject } from "./kube-object.ts";
export { startSandbox } from "./sandbox.ts";
export type { Sandbox, SandboxOptions } from "./sandbox.ts";
