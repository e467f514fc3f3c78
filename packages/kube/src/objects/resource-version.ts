/**
 * The version of an object, a list or a bookmark. Versions can be compared within one kind only. Those of Kubernetes
 * are decimal numbers of any length. An aggregated API may send any text: then only equality counts.
 */
export type ResourceVersion = string;

/** The order of a version relative to another one of the same kind. */
export type VersionOrder = "older" | "same" | "newer" | "incomparable";

const decimal = /^(0|[1-9]\d*)$/;

/** Compares `version` with `other`, by length, then by text: a number would lose digits. */
export function versionOrder(version: ResourceVersion, other: ResourceVersion): VersionOrder {
  if (version === other) return "same";
  if (!decimal.test(version) || !decimal.test(other)) return "incomparable";
  if (version.length !== other.length) return version.length < other.length ? "older" : "newer";
  return version < other ? "older" : "newer";
}
