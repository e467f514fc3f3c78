import { type ProxiedCall, nameIn } from "./proxied-call.ts";
import type { CallFault, EventFault } from "../plan/faults.ts";
import type { CallRecord, EventRecord } from "./call-record.ts";

/** One line for each call, and one for each event that met a fault. */
export const describeRecord = (record: readonly CallRecord[]): string[] =>
  record.flatMap((entry) => [
    describeEntry(entry),
    ...entry.events.map((event) => `    ${describeEvent(event)}`),
  ]);

/** As in `#7 create configmaps default/a -> 201, answer lost`. */
export function describeEntry(entry: CallRecord): string {
  const { call, fault, server, client, problem } = entry;
  const outcome = [
    ...(server === undefined ? [] : [String(server.status)]),
    ...(fault === undefined ? [] : [describeFault(fault)]),
    ...(fault === undefined && client === "hung" ? ["not answered: its process is dead"] : []),
    ...(client === "gone" ? ["its client has gone"] : []),
    ...(problem === undefined ? [] : [problem]),
  ];
  return `#${call.id} ${describeCall(call, server?.object?.name)} -> ${outcome.join(", ") || "waits"}`;
}

/**
 * `create configmaps default/a`, or the method and the path of a call that names no resource. `answered`: the name that
 * the server gave the object.
 */
export function describeCall(call: ProxiedCall, answered = ""): string {
  const { method, path, verb, resource, subresource, namespace, isWrite } = call;
  if (resource === "") return `${method} ${path}`;
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  const which = [namespace, nameIn(call) || answered].filter((part) => part !== "").join("/");
  const dry = !isWrite && !["get", "list", "watch"].includes(verb) ? " (changes nothing)" : "";
  return `${verb} ${what}${which === "" ? "" : ` ${which}`}${dry}`;
}

export function describeFault(fault: CallFault): string {
  switch (fault.do) {
    case "refuse":
      return `refused with ${fault.status}`;
    case "delay":
      return [`delayed by ${fault.for} ms`, ...(fault.then ? [describeFault(fault.then)] : [])].join(", ");
    case "reset":
      return "reset before the server";
    case "hang":
      return "hangs, never at the server";
    case "lose answer":
      return "answer lost";
    case "hang after":
      return "never answered";
    case "repeat":
      return "sent twice";
    case "kill":
      return `killed ${fault.when} it`;
    case "stale":
      return `stale, from ${fault.view}`;
    case "garbage":
      return `garbage instead: ${fault.of}`;
    case "spoil list":
      return `list spoilt: ${fault.how}`;
  }
}

export function describeEvent({ type, object, fault }: EventRecord): string {
  const which = object === undefined ? "" : ` ${[object.namespace, object.name].filter(Boolean).join("/")}`;
  return `${type}${which}${object === undefined ? "" : `@${object.resourceVersion}`}: ${describeEventFault(fault)}`;
}

function describeEventFault(fault: EventFault): string {
  if (fault.do === "delay") return `delay of ${fault.for} ms`;
  return fault.do === "error" ? `error ${fault.code ?? "without a code"}` : fault.do;
}
