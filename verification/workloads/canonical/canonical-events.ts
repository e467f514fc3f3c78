// Events, so that two runs can be compared: what was said of whom, and how often.
import { field, textAt, type Json, type JsonObject } from "../../../packages/sandbox/src/json.ts";
import { numberAt } from "../sequences/kinds.ts";
import type { World } from "../observe.ts";

/** Who speaks of pods besides the controllers. */
const others = new Set(["Scheduled", "FailedScheduling", "TaintManagerEviction"]);

/**
 * The real controllers' recorder lets 25 events of one object through and then one in five minutes: of whom that much was
 * said, nothing is compared.
 */
const most = 20;
/** The key that stands for them. */
export const uncounted = "more than can be compared";

const scaled = /^(Scaled (?:up|down) replica set .+) from (\d+) to (\d+)$/;
const combined = /^\(combined from similar events\): /;

interface Told {
  readonly what: string;
  readonly times: number;
  /** It stands for several that said something else. */
  readonly combines: boolean;
}

/**
 * In how many steps a ReplicaSet was scaled is a matter of timing: it is told by how much in all. Of a refusal that is
 * tried again and again it is told that there was one.
 */
function told(event: Json, mask: Mask): Told {
  const times = numberAt(event, "count") ?? numberAt(event, "series", "count") ?? 1;
  const message = mask(textAt(event, "message") ?? textAt(event, "note") ?? "");
  const said = message.replace(combined, "");
  const [, scaling, from, to] = scaled.exec(said) ?? [];
  if (scaling === undefined) return { what: said, times, combines: false };
  const by = Math.abs(Number(to) - Number(from));
  return { what: `${scaling} by`, times: times * by, combines: said !== message };
}

/** What was said of an object for one reason. */
interface Said {
  readonly whom: string;
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

/** @param unsaid ReplicaSets of which nothing is told. */
export function tellEvents(world: World, mask: Mask, unsaid: ReadonlySet<string>): JsonObject {
  const all = new Map<string, Said>();
  for (const event of world.objects("Event")) {
    const reason = textAt(event, "reason") ?? "";
    if (others.has(reason)) continue;
    const about = field(event, "involvedObject") ?? field(event, "regarding") ?? null;
    const whom = `${textAt(about, "kind") ?? ""} ${mask(textAt(about, "name") ?? "")}`;
    const key = `${whom}: ${textAt(event, "type") ?? ""} ${reason}`;
    const said = all.get(key) ?? { whom, counts: new Map<string, number>(), events: 0, combines: false };
    all.set(key, said);
    const { what, times, combines } = told(event, mask);
    if (!isAbout(event, unsaid)) said.counts.set(what, (said.counts.get(what) ?? 0) + times);
    said.events += numberAt(event, "count") ?? 1;
    said.combines ||= combines;
  }
  const heard = new Map<string, number>();
  for (const { whom, events } of all.values()) heard.set(whom, (heard.get(whom) ?? 0) + events);
  const entries = [...all].map(([key, { whom, counts, combines }]): [string, JsonObject] => {
    if (combines || (heard.get(whom) ?? 0) > most) return [key, { [uncounted]: true }];
    const some = key.endsWith(" FailedCreate");
    return [key, Object.fromEntries([...counts].map(([what, times]) => [what, some ? "some" : times]))];
  });
  return Object.fromEntries(entries.filter(([, said]) => Object.keys(said).length > 0));
}

export type Mask = (text: string) => string;
