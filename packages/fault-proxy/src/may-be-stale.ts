import type { Call } from "./call.ts";

/**
 * Whether Kubernetes allows a read to be answered with an older state (kubernetes.io, "Kubernetes API Concepts",
 * resource versions): who asks with `resourceVersion=0` takes any, who names a version takes any that is not older. A
 * read without a version is promised what was last written, a `continue` or an exact version its own moment; to lie
 * about those is a fault that no API server has, so a plan must ask for it by name (`quorum: true`).
 */
export function mayBeStale({ verb, query }: Call): boolean {
  if (verb !== "get" && verb !== "list" && verb !== "watch") return false;
  const asked = new URLSearchParams(query);
  const version = asked.get("resourceVersion") ?? "";
  if (version === "" || (asked.get("continue") ?? "") !== "") return false;
  if (version === "0") return true;
  const match = asked.get("resourceVersionMatch") ?? "";
  // Of a list with a limit, a version alone means exactly this one.
  const isExact = verb === "list" && Number(asked.get("limit") ?? 0) > 0;
  return match === "NotOlderThan" || (match === "" && !isExact);
}
