import { type Log, silentLog } from "../log.ts";
import type { ReconcileContext } from "./reconcile-context.ts";
import { unavailableClient, type ObjectClient } from "../object/object-client.ts";
import { objectKey } from "../object/object-key.ts";
import type { ObjectMetadata, Resource, ObjectStatus } from "../resource/resource.ts";
import type { z } from "zod";

/** The object of a test; other fields get defaults. */
export interface TestObject<Spec extends z.ZodObject, Status extends z.ZodObject> {
  /** As in a manifest: defaults are applied, and a value that the schema refuses throws. */
  readonly spec: z.input<Spec>;
  readonly metadata?: Partial<ObjectMetadata>;
  readonly status?: ObjectStatus<Resource<Spec, Status>>;
  /** The Secrets in its namespace, by name. */
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Default: each request fails. `testReconcile` and `testCluster` of @drover/testing provide an API server. */
  readonly client?: ObjectClient;
  readonly signal?: AbortSignal;
  readonly log?: Log;
}

/**
 * The context of a run, for tests that call a controller's `reconcile` or `finalize` themselves. By default the object
 * is `default/test`, and log lines are discarded.
 *
 * @throws ZodError for a spec that the API server would refuse.
 */
export function testContext<Spec extends z.ZodObject, Status extends z.ZodObject>(
  resource: Resource<Spec, Status>,
  {
    spec,
    metadata = {},
    status = {},
    secrets = {},
    client,
    signal,
    log = silentLog,
  }: TestObject<Spec, Status>,
): ReconcileContext<Resource<Spec, Status>> {
  const named = { name: "test", uid: "uid-of-test", resourceVersion: "1", generation: 1, ...metadata };
  const namespace = resource.scope === "Namespaced" ? { namespace: metadata.namespace ?? "default" } : {};
  const all = { ...named, ...namespace };
  const { apiVersion, kind } = resource;
  return {
    key: objectKey({ ...namespace, name: named.name }),
    metadata: all,
    object: { apiVersion, kind, metadata: all, spec, status },
    spec: resource.spec.parse(spec),
    status,
    log,
    now: () => new Date(),
    signal: signal ?? new AbortController().signal,
    client:
      client ?? unavailableClient(() => new Error("This test has no cluster: give testContext a client.")),
    guard: { beforeWrite: () => undefined },
    announce: () => undefined,
    readSecret: (secret) => Promise.resolve(secrets[secret]),
  };
}
