import { keyOf, type KubeObject } from "./kube-object.ts";

/** Sorts objects by creation time, and those of the same second by key: every process gets the same order. */
export function oldestFirst(objects: Iterable<KubeObject>): readonly KubeObject[] {
  const born = (object: KubeObject): string => `${object.metadata.creationTimestamp ?? ""} ${keyOf(object)}`;
  return [...objects].sort((a, b) => (born(a) < born(b) ? -1 : 1));
}
