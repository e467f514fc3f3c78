import {
  type KubeClient,
  type KubeObject,
  collectionPath,
  isWellFormed,
  keyOf,
  type NewObject,
  objectPath,
  type ResourceRef,
} from "@drover/kube";
import type { JsonObject } from "@drover/sandbox";
import { z } from "zod";
import type { ApiAddress } from "./api-address.ts";
import { applyPatch, withoutNulls } from "./apply-patch.ts";
import { type PlainAnswer, plainRequest } from "./plain-request.ts";

/** The API server refused a manifest. The message has its words. */
export class ApplyRefusedError extends Error {
  override readonly name = "ApplyRefusedError";
}

/** Where kubectl keeps the manifest that was applied last. */
export const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

export interface ApplyOptions {
  /** Nothing is kept: only whether the server would take it is asked. */
  readonly dryRun?: boolean;
}

/**
 * Applies a manifest as `kubectl apply` does that is given no flags: on the client, by the manifest that was applied last,
 * with an annotation that the function sees, too. `kubectl apply --server-side` would spare us the merging, but it comes to
 * another end: it is refused where others have changed a field, keeps a removed field that others have set, and merges lists
 * of custom resources. People who do not ask for it do not have that.
 *
 * @throws ApplyRefusedError as the server says it; fields that are not in the schema are refused, too.
 */
export async function kubectlApply(
  { client, server }: { readonly client: KubeClient; readonly server: ApiAddress },
  ref: ResourceRef,
  manifest: NewObject,
  { dryRun = false }: ApplyOptions = {},
): Promise<KubeObject> {
  const { kind } = ref;
  const apiVersion = [ref.group, ref.version].filter(Boolean).join("/");
  const { metadata } = manifest;
  const { annotations: { [lastAppliedAnnotation]: _, ...annotations } = {} } = metadata;
  const plain = fieldsOf(
    JSON.stringify({ ...manifest, apiVersion, kind, metadata: { ...metadata, annotations } }),
  );
  const text = `${JSON.stringify(sorted(plain))}\n`;
  const wanted = fieldsOf(
    JSON.stringify({
      ...plain,
      metadata: { ...metadata, annotations: { ...annotations, [lastAppliedAnnotation]: text } },
    }),
  );
  const query = `?fieldManager=kubectl-client-side-apply&fieldValidation=Strict${dryRun ? "&dryRun=All" : ""}`;
  const key = keyOf(manifest);
  const there = await client.get(ref, key);
  if (there === undefined) {
    const path = collectionPath(ref, metadata.namespace) + query;
    return accepted(
      manifest,
      kind,
      await plainRequest(server, { method: "POST", path, body: withoutNulls(wanted) }),
    );
  }
  const before = fieldsOf(there.metadata.annotations?.[lastAppliedAnnotation] ?? "{}");
  const now = fieldsOf(JSON.stringify(there));
  const path = objectPath(ref, key) + query;
  const patched = (patch: "merge" | "strategic-merge"): Promise<PlainAnswer> => {
    const body = applyPatch({ before, now }, wanted, patch === "strategic-merge");
    return plainRequest(server, { method: "PATCH", path, body, patch });
  };
  const answer = await patched("strategic-merge");
  return accepted(manifest, kind, answer.status === unsupported ? await patched("merge") : answer);
}

/** What a custom resource answers to a strategic merge patch. kubectl sees in the server's schema which kinds take one. */
const unsupported = 415;

const statusSchema = z.looseObject({ message: z.string() });

function accepted({ metadata }: NewObject, kind: string, { status, text }: PlainAnswer): KubeObject {
  const object: unknown = JSON.parse(text);
  if (status < 300 && isWellFormed(object)) return object;
  const message = statusSchema.safeParse(object).data?.message ?? text;
  throw new ApplyRefusedError(
    `The API server answered ${status} to the ${kind} ${metadata.name}: ${message}`,
  );
}

const jsonSchema = z.json();
const fieldsSchema = z.record(z.string(), jsonSchema);
const fieldsOf = (text: string): JsonObject => fieldsSchema.parse(JSON.parse(text));

/** Its keys in order, as Go writes them. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, sorted(v)]),
  );
}
