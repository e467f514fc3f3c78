import { lastAppliedAnnotation, type ObjectMetadata, type Resource, TerminalError } from "@drover/controller";
import { isSecret, type KubeObject } from "@drover/kube";
import type { Call } from "@drover/webhook";

type SentObject = { readonly metadata: ObjectMetadata; readonly [field: string]: unknown };

/**
 * An object as a call contains it: without fields that only the API server and kubectl use.
 *
 * @throws TerminalError for a Secret, whatever kind was declared.
 */
export function objectForCall(
  kind: Pick<Resource, "apiVersion" | "kind">,
  object: SentObject,
): Call["object"] {
  if (!isSecret(object)) return sentObject(kind, object);
  throw new TerminalError(
    "Secrets are not sent to functions. Have the function pull, with a permission of its own.",
    {
      reason: "SecretsAreNotSent",
    },
  );
}

function sentObject(
  { apiVersion, kind }: Pick<Resource, "apiVersion" | "kind">,
  object: SentObject,
): Call["object"] {
  const { annotations, ...metadata } = object.metadata;
  const shown = Object.entries(annotations ?? {}).filter(([name]) => name !== lastAppliedAnnotation);
  return {
    ...object,
    apiVersion,
    kind,
    metadata: {
      ...Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== "managedFields")),
      name: metadata.name,
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
      ...(shown.length > 0 && { annotations: Object.fromEntries(shown) }),
    },
  };
}

/** A related object as a call contains it: also a Secret, since the function declares that it reads Secrets. */
export const relatedForCall = (related: KubeObject): Call["object"] => sentObject(related, related);

/** A child as a call contains it: of a Secret only its metadata, since Secrets are not sent to functions. */
export function childForCall(child: KubeObject): Call["object"] {
  const { apiVersion, kind, metadata } = child;
  const sent = isSecret(child) ? { metadata } : child;
  return objectForCall({ apiVersion, kind }, sent);
}
