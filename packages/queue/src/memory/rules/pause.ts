import { splitObjectKey } from "@drover/controller";
import { maxPauseAuthorLength } from "../../ledger/ledger.ts";
import type { Pause, PauseScope } from "../../work-queue/work-queue.ts";
import type { KeyEntry, PauseNote } from "./ledger-data.ts";
import { entryOf, type CallContext } from "./call-context.ts";
import { becomeReady } from "./key-states.ts";
import { isObjectPaused, reopenNamespace } from "./order.ts";

/**
 * Pauses keys, or resumes them: all of the controller, of a namespace, or one object. Paused keys stay due and get no
 * jobs; a run in progress ends as usual.
 *
 * @param by the author of the pause; undefined to resume
 */
export function pause(context: CallContext, scope: PauseScope, by: string | undefined): void {
  const { paused } = context.data;
  const note = by === undefined ? undefined : { since: context.now, by: by.slice(0, maxPauseAuthorLength) };
  switch (scope.kind) {
    case "controller":
      paused.controller = note;
      return;
    case "namespace":
      setOrDelete(paused.namespaces, scope.namespace, note);
      if (!note) reopenNamespace(context, scope.namespace);
      return;
    case "object": {
      setOrDelete(paused.objects, scope.key, note);
      const entry = entryOf(context, scope.key);
      const resumed = entry.state === "paused" && !isObjectPaused(context, entry);
      if (entry.state === "ready" || entry.state === "dispatched" || entry.state === "paused")
        becomeReady(context, entry, resumed ? context.now : entry.at);
    }
  }
}

function setOrDelete<T>(notes: Map<T, PauseNote>, of: T, note: PauseNote | undefined): void {
  if (note) notes.set(of, note);
  else notes.delete(of);
}

/** The pauses that hold a key back, widest scope first. */
export function pausesOf({ data }: CallContext, { key, pausedSince }: KeyEntry): readonly Pause[] {
  const { controller, namespaces, objects } = data.paused;
  const notes = {
    annotation: pausedSince === undefined ? undefined : { since: pausedSince, by: "" },
    controller,
    namespace: namespaces.get(splitObjectKey(key).namespace ?? ""),
    object: objects.get(key),
  };
  return (["controller", "namespace", "object", "annotation"] as const).flatMap((scope) => {
    const note = notes[scope];
    return note ? { scope, ...note } : [];
  });
}
