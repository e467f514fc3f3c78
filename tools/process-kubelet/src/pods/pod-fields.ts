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
  switch (path) {
    case "metadata.name":
      return pod.name;
    case "metadata.namespace":
      return pod.namespace;
    case "metadata.uid":
      return pod.uid;
    case "metadata.labels":
      return lines(pod.labels);
    case "metadata.annotations":
      return lines(pod.annotations);
    case "spec.serviceAccountName":
      return pod.spec.serviceAccountName;
    case "spec.nodeName":
      return pod.spec.nodeName;
    case "status.podIP":
    case "status.podIPs":
      return address;
    case "status.hostIP":
      return "127.0.0.1";
    default:
      return undefined;
  }
}

const lines = (map: Readonly<Record<string, string>>): string =>
  Object.entries(map)
    .sort()
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join("\n");
