import { expandReferences } from "./expand-references.ts";
import { podField } from "../pods/pod-fields.ts";
import type { Container, Env, NodePod } from "../pods/pod.ts";
import { MissingReferenceError, type References, type SourceKind } from "./references.ts";

/**
 * A container's own variables: `envFrom` first, then `env` in its order, where a value may use what came before it.
 * Throws MissingReferenceError for what is not there and not optional.
 */
export async function containerEnvironment(
  container: Container,
  pod: NodePod,
  address: string,
  references: References,
): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  for (const { prefix, secretRef, configMapRef } of container.envFrom) {
    for (const [kind, ref] of [["configMap", configMapRef] as const, ["secret", secretRef] as const]) {
      if (ref == null) continue;
      for (const [key, value] of await references.content(kind, ref)) values.set(prefix + key, String(value));
    }
  }
  for (const env of container.env) {
    const value = await valueOf(env, values, pod, address, references);
    if (value !== undefined) values.set(env.name, value);
  }
  return values;
}

async function valueOf(
  { name, value, valueFrom }: Env,
  values: ReadonlyMap<string, string>,
  pod: NodePod,
  address: string,
  references: References,
): Promise<string | undefined> {
  if (valueFrom?.fieldRef != null) {
    const { fieldPath } = valueFrom.fieldRef;
    const found = podField(pod, address, fieldPath);
    if (found !== undefined) return found;
    throw new MissingReferenceError(`env ${name}: this node knows no field ${fieldPath}`);
  }
  const keyed = async (kind: SourceKind, ref: { name: string; key: string; optional: boolean }) => {
    const found = (await references.content(kind, ref)).get(ref.key);
    if (found === undefined && !ref.optional)
      throw new MissingReferenceError(`couldn't find key ${ref.key} in ${kind} ${pod.namespace}/${ref.name}`);
    return found?.toString();
  };
  if (valueFrom?.secretKeyRef != null) return keyed("secret", valueFrom.secretKeyRef);
  if (valueFrom?.configMapKeyRef != null) return keyed("configMap", valueFrom.configMapKeyRef);
  return expandReferences(value ?? "", values);
}
