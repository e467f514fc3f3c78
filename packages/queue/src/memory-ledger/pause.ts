import { splitObjectKey } from "@drover/controller";
import { pauserKept } from "../ledger.ts";
import type { Pause, Scope } from "../work-queue.ts";
import type { Entry, PauseNote } from "./ledger-data.ts";
import { find, type Moment } from "./moment.ts";
import { becomeReady } from "./places.ts";
import { isObjectPaused, openNamespace } from "./turns.ts";

/**
 * Pauses keys, or resumes them: all of the controller, of a namespace, or one object. Paused keys stay due and get no
 * jobs; a run in progress ends as usual.
 *
 * @param by the author of the pause; undefined to resume
 */
export function pause(moment: Moment, scope: Scope, by: string | undefined): void {
  const { paused } = moment.data;
  const note = by === undefined ? undefined : { since: moment.now, by: by.slice(0, pauserKept) };
  switch (scope.kind) {
    case "controller":
      paused.controller = note;
      return;
    case "namespace":
      noteIn(paused.namespaces, scope.namespace, note);
      if (!note) openNamespace(moment, scope.namespace);
      return;
    case "object": {
      noteIn(paused.objects, scope.key, note);
      const entry = find(moment, scope.key);
      const resumed = entry.state === "paused" && !isObjectPaused(moment, entry);
      if (entry.state === "ready" || entry.state === "rung" || entry.state === "paused")
        becomeReady(moment, entry, resumed ? moment.now : entry.at);
    }
  }
}

function noteIn<T>(notes: Map<T, PauseNote>, of: T, note: PauseNote | undefined): void {
  if (note) notes.set(of, note);
  else notes.delete(of);
}

/** The pauses that hold a key back, widest scope first. */
export function pausesOf({ data }: Moment, { key, pausedSince }: Entry): readonly Pause[] {
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
