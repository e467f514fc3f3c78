import type { NodePod } from "./pod.ts";

const subscript = /^metadata\.(labels|annotations)\['(.+)'\]$/;

/**
 * The field that a `fieldRef` names, as text; labels and annotations as a whole are lines of `key="value"`. Undefined for a path
 * that this node does not know.
 */
export function podField(pod: NodePod, address: string, path: string): string | undefined {
  const [, map, key] = subscript.exec(path) ?? [];
  if (map !== undefined && key !== undefined)
    return (map === "labels" ? pod.labels : pod.annotations)[key] ?? "";
  const fields = {
    "metadata.name": pod.name,
    "metadata.namespace": pod.namespace,
    "metadata.uid": pod.uid,
    "metadata.labels": lines(pod.labels),
    "metadata.annotations": lines(pod.annotations),
    "spec.serviceAccountName": pod.spec.serviceAccountName,
    "spec.nodeName": pod.spec.nodeName,
    "status.podIP": address,
    "status.podIPs": address,
    "status.hostIP": "127.0.0.1",
  };
  return new Map(Object.entries(fields)).get(path);
}

const lines = (map: Readonly<Record<string, string>>): string =>
  Object.entries(map)
    .sort()
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join("\n");
