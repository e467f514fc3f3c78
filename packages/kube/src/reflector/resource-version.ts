/**
 * The version of an object, a list or a bookmark. Two of one kind compare; across kinds they say nothing.
 * Kubernetes' own are decimal numbers of any length. An aggregated API may send anything: then only equality counts.
 */
export type ResourceVersion = string;

/** How a version stands to another one of the same kind. */
export type VersionOrder = "older" | "same" | "newer" | "incomparable";

const decimal = /^(0|[1-9]\d*)$/;

/** Is `version` older or newer than `other`? By length, then by text: a number would lose digits. */
export function versionOrder(version: ResourceVersion, other: ResourceVersion): VersionOrder {
  if (version === other) return "same";
  if (!decimal.test(version) || !decimal.test(other)) return "incomparable";
  if (version.length !== other.length) return version.length < other.length ? "older" : "newer";
  return version < other ? "older" : "newer";
}
