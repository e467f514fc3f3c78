// Events in a form in which two runs can be compared: message, object, and count.
import { field, textAt, type Json, type JsonObject } from "../../../packages/sandbox/src/json.ts";
import { numberAt } from "../sequences/kinds.ts";
import type { World } from "../observe.ts";

/** Other components that write Events about Pods and Services. */
const others = new Set(["Scheduled", "FailedScheduling", "TaintManagerEviction", "ClusterIPNotAllocated"]);

/** Written at each look: how many there are depends on timing. */
const repeated = new Set(["FailedCreate", "InvalidSchedule", "JobAlreadyActive", "UnexpectedJob"]);

/**
 * The real controllers' recorder lets 25 events of one object through and then one in five minutes: with that many events
 * of an object, nothing is compared.
 */
const most = 20;
/** The key that stands for them. */
export const uncounted = "more than can be compared";

const scaled = /^(Scaled (?:up|down) replica set .+) from (\d+) to (\d+)$/;
const combined = /^\(combined from similar events\): /;

interface CountedMessage {
  readonly what: string;
  readonly times: number;
  /** It replaces several with other messages. */
  readonly combines: boolean;
}

/**
 * The number of steps in which a ReplicaSet was scaled depends on timing: the sum is compared. Of a refusal that is
 * retried, only its existence counts.
 */
function countedMessage(event: Json, mask: Mask): CountedMessage {
  const times = numberAt(event, "count") ?? numberAt(event, "series", "count") ?? 1;
  const message = mask(textAt(event, "message") ?? textAt(event, "note") ?? "");
  const single = message.replace(combined, "");
  const [, scaling, from, to] = scaled.exec(single) ?? [];
  if (scaling === undefined) return { what: single, times, combines: false };
  const by = Math.abs(Number(to) - Number(from));
  return { what: `${scaling} by`, times: times * by, combines: single !== message };
}

/** Messages about an object for one reason. */
interface Messages {
  readonly about: string;
  readonly counts: Map<string, number>;
  events: number;
  combines: boolean;
}

/** It is of a ReplicaSet, or of how one was scaled. */
function isAbout(event: Json, sets: ReadonlySet<string>): boolean {
  const about = field(event, "involvedObject") ?? field(event, "regarding") ?? null;
  const message = textAt(event, "message") ?? textAt(event, "note") ?? "";
  return (
    (textAt(about, "kind") === "ReplicaSet" && sets.has(textAt(about, "name") ?? "")) ||
    [...sets].some((name) => message.includes(name))
  );
}

/** @param unsaid ReplicaSets without compared events. */
export function tellEvents(world: World, mask: Mask, unsaid: ReadonlySet<string>): JsonObject {
  const all = new Map<string, Messages>();
  for (const event of world.objects("Event")) {
    const reason = textAt(event, "reason") ?? "";
    if (others.has(reason)) continue;
    const about = field(event, "involvedObject") ?? field(event, "regarding") ?? null;
    const name = `${textAt(about, "kind") ?? ""} ${mask(textAt(about, "name") ?? "")}`;
    const key = `${name}: ${textAt(event, "type") ?? ""} ${reason}`;
    const messages = all.get(key) ?? {
      about: name,
      counts: new Map<string, number>(),
      events: 0,
      combines: false,
    };
    all.set(key, messages);
    const { what, times, combines } = countedMessage(event, mask);
    if (!isAbout(event, unsaid)) messages.counts.set(what, (messages.counts.get(what) ?? 0) + times);
    messages.events += numberAt(event, "count") ?? 1;
    messages.combines ||= combines;
  }
  const totals = new Map<string, number>();
  for (const one of all.values()) totals.set(one.about, (totals.get(one.about) ?? 0) + one.events);
  const entries = [...all].map(([key, { about: name, counts, combines }]): [string, JsonObject] => {
    if (combines || (totals.get(name) ?? 0) > most) return [key, { [uncounted]: true }];
    const some = repeated.has(key.slice(key.lastIndexOf(" ") + 1));
    return [key, Object.fromEntries([...counts].map(([what, times]) => [what, some ? "some" : times]))];
  });
  return Object.fromEntries(entries.filter(([, counted]) => Object.keys(counted).length > 0));
}

export type Mask = (text: string) => string;
