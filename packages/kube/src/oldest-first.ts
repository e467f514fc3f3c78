import { keyOf, type KubeObject } from "./kube-object.ts";

/** Objects by when they were made, and those of one second by key: the same order for whoever looks. */
export function oldestFirst(objects: Iterable<KubeObject>): readonly KubeObject[] {
  const born = (object: KubeObject): string => `${object.metadata.creationTimestamp ?? ""} ${keyOf(object)}`;
  return [...objects].sort((a, b) => (born(a) < born(b) ? -1 : 1));
}
