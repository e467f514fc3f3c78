import type { Scope } from "../work-queue.ts";
import { find, type Moment } from "./moment.ts";
import { becomeReady } from "./places.ts";
import { openNamespace } from "./turns.ts";

/**
 * Hold keys back, or let them go on: all of the controller, of a namespace, or one object. Paused keys stay ready and
 * are not rung; a run under way ends.
 */
export function pause(moment: Moment, scope: Scope, on: boolean): void {
  const { paused } = moment.data;
  switch (scope.kind) {
    case "controller":
      paused.controller = on;
      return;
    case "namespace":
      toggle(paused.namespaces, scope.namespace, on);
      if (!on) openNamespace(moment, scope.namespace);
      return;
    case "object": {
      toggle(paused.objects, scope.key, on);
      const entry = find(moment, scope.key);
      // Out of its queue, or into it again.
      if (entry.state === "ready") becomeReady(moment, entry, entry.at);
    }
  }
}

function toggle<T>(set: Set<T>, member: T, on: boolean): void {
  if (on) set.add(member);
  else set.delete(member);
}
