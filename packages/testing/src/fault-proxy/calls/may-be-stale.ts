import type { ProxiedCall } from "./proxied-call.ts";

/**
 * True if Kubernetes allows a read to be answered with an older state (kubernetes.io, "Kubernetes API Concepts",
 * resource versions): with `resourceVersion=0` any state, with another version any state that is not older. A read
 * without a version must get the last write, and a `continue` or an exact version its own state. No API server answers
 * those with another state, so a plan must request such a fault explicitly (`quorum: true`).
 */
export function mayBeStale({ verb, query }: ProxiedCall): boolean {
  if (verb !== "get" && verb !== "list" && verb !== "watch") return false;
  const asked = new URLSearchParams(query);
  const version = asked.get("resourceVersion") ?? "";
  if (version === "" || (asked.get("continue") ?? "") !== "") return false;
  if (version === "0") return true;
  const match = asked.get("resourceVersionMatch") ?? "";
  // For a list with a limit, a version alone means exactly this one.
  const isExact = verb === "list" && Number(asked.get("limit") ?? 0) > 0;
  return match === "NotOlderThan" || (match === "" && !isExact);
}
