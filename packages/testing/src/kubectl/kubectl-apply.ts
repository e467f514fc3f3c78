import {
  apiVersionOf,
  type KubeClient,
  type KubeObject,
  collectionPath,
  isWellFormed,
  keyOf,
  type NewObject,
  objectPath,
  type ResourceRef,
} from "@drover/kube";
import { parseJson, writeJson } from "@drover/json";
import { type JsonObject, sortedJson } from "@drover/sandbox";
import { z } from "zod";
import type { ApiAddress } from "./api-address.ts";
import { applyPatch, withoutNulls } from "./apply-patch.ts";
import { type PlainResponse, plainRequest } from "./plain-request.ts";

/** The API server refused a manifest. The message has its words. */
export class ApplyRefusedError extends Error {
  override readonly name = "ApplyRefusedError";
}

/** The annotation in which kubectl keeps the last applied manifest. */
export const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

/** The API server to apply to. */
export interface ApplyTarget {
  readonly client: KubeClient;
  /** The client's server. */
  readonly server: ApiAddress;
}

/**
 * Applies a manifest as `kubectl apply` without flags does: it merges on the client, with the last applied manifest, which it
 * keeps in an annotation. `kubectl apply --server-side` would need no merging here, but has another result: docs/decisions/0029-tests-agree-with-the-cluster.md.
 *
 * @throws ApplyRefusedError with the server's message; unknown fields are refused, too.
 */
export async function kubectlApply(
  target: ApplyTarget,
  ref: ResourceRef,
  manifest: NewObject,
): Promise<KubeObject> {
  const { status, text } = await sendApply(target, ref, manifest, "");
  const object = parseJson(text);
  if (status < 300 && isWellFormed(object)) return object;
  const message = statusSchema.safeParse(object).data?.message ?? text;
  throw new ApplyRefusedError(
    `The API server answered ${status} to the ${ref.kind} ${manifest.metadata.name}: ${message}`,
  );
}

const statusSchema = z.looseObject({ message: z.string() });

/** True if the API server would accept the manifest: `kubectl apply --dry-run=server`. */
export const isAcceptable = async (
  target: ApplyTarget,
  ref: ResourceRef,
  manifest: NewObject,
): Promise<boolean> => (await sendApply(target, ref, manifest, "&dryRun=All")).status < 300;

/** @param more appended to the query. */
async function sendApply(
  { client, server }: ApplyTarget,
  ref: ResourceRef,
  manifest: NewObject,
  more: string,
): Promise<PlainResponse> {
  const query = `?fieldManager=kubectl-client-side-apply&fieldValidation=Strict${more}`;
  const wanted = annotated({ ...manifest, apiVersion: apiVersionOf(ref), kind: ref.kind });
  const key = keyOf(manifest);
  const there = await client.get(ref, key);
  if (there === undefined) {
    const path = collectionPath(ref, manifest.metadata.namespace) + query;
    return plainRequest(server, { method: "POST", path, body: withoutNulls(wanted) });
  }
  const before = fieldsOf(there.metadata.annotations?.[lastAppliedAnnotation] ?? "{}");
  const now = fieldsOf(writeJson(there));
  const patched = (patch: "merge" | "strategic-merge"): Promise<PlainResponse> => {
    const body = applyPatch({ before, now }, wanted, patch === "strategic-merge");
    return plainRequest(server, { method: "PATCH", path: objectPath(ref, key) + query, body, patch });
  };
  const answer = await patched("strategic-merge");
  return answer.status === unsupported ? patched("merge") : answer;
}

/** The manifest with itself in an annotation, for the next apply. */
function annotated({ metadata, ...object }: NewObject): JsonObject {
  const { [lastAppliedAnnotation]: _, ...annotations } = metadata.annotations ?? {};
  const plain = { ...object, metadata: { ...metadata, annotations } };
  const text = `${sortedJson(fieldsOf(writeJson(plain)))}\n`;
  const both = { ...annotations, [lastAppliedAnnotation]: text };
  return fieldsOf(writeJson({ ...object, metadata: { ...metadata, annotations: both } }));
}

/** The status with which custom resources refuse a strategic merge patch. kubectl reads from the schema which kinds accept one. */
const unsupported = 415;

const fieldsSchema = z.record(z.string(), z.unknown());
// Whatever is parsed is JSON, with integers that zod's own schema of it does not have.
const fieldsOf = (text: string): JsonObject => fieldsSchema.parse(parseJson(text)) as JsonObject;
