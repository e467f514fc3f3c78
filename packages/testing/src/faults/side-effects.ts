import type { CallRecord } from "../fault-proxy/index.ts";
import type { StableNameOf } from "./cluster-state.ts";

/** The number of creations and deletions of each object, by its stable name. Only committed calls count. */
export interface SideEffects {
  readonly creates: ReadonlyMap<string, number>;
  readonly deletes: ReadonlyMap<string, number>;
}

/** @param record the function's own calls. */
export function sideEffectsOf(record: readonly CallRecord[], stableNameOf: StableNameOf): SideEffects {
  const creates = new Map<string, number>();
  const deletes = new Map<string, number>();
  const count = (counts: Map<string, number>, role: string): void =>
    void counts.set(role, (counts.get(role) ?? 0) + 1);
  const marked = new Set<string>();
  for (const { call, server, committed } of record) {
    if (committed !== true || call.subresource !== "") continue;
    const { resource, namespace } = call;
    const name = server?.object?.name ?? call.name;
    const isCreated = call.verb === "create" || (call.verb === "patch" && server?.status === 201);
    if (isCreated) count(creates, stableNameOf({ resource, namespace, name }));
    if (call.verb !== "delete") continue;
    // An object with a finalizer may be deleted any number of times.
    const uid = server?.object?.uid;
    if (uid === undefined || !marked.has(uid))
      count(deletes, stableNameOf({ resource, namespace, name: call.name }));
    if (uid !== undefined) marked.add(uid);
  }
  return { creates, deletes };
}
