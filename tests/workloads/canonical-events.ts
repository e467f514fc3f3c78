// Events, so that two runs can be compared: what was said of whom, and how often.
import { field, textAt } from "../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../packages/sandbox/src/json.ts";
import type { Mask } from "./canonical.ts";
import { numberAt } from "./kinds.ts";
import type { World } from "./observe.ts";

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
}

/**
 * In how many steps a ReplicaSet was scaled is a matter of timing: it is told by how much in all. Of a refusal that is
 * tried again and again it is told that there was one.
 */
function told(event: Json, mask: Mask): Told {
  const times = numberAt(event, "count") ?? numberAt(event, "series", "count") ?? 1;
  const said = mask(textAt(event, "message") ?? textAt(event, "note") ?? "").replace(combined, "");
  const reason = textAt(event, "reason") ?? "";
  const type = textAt(event, "type") ?? "";
  const [, scaling, from, to] = scaled.exec(said) ?? [];
  if (scaling !== undefined)
    return { what: `${type} ${reason}: ${scaling} by`, times: times * Math.abs(Number(to) - Number(from)) };
  return { what: `${type} ${reason}: ${said}`, times: reason === "FailedCreate" ? NaN : times };
}

export function tellEvents(world: World, mask: Mask): JsonObject {
  const all: Record<string, Record<string, number>> = {};
  const said: Record<string, number> = {};
  for (const event of world.objects("Event")) {
    if (others.has(textAt(event, "reason") ?? "")) continue;
    const about = field(event, "involvedObject") ?? field(event, "regarding") ?? null;
    const whom = `${textAt(about, "kind") ?? ""} ${mask(textAt(about, "name") ?? "")}`;
    const { what, times } = told(event, mask);
    const counts = (all[whom] ??= {});
    counts[what] = (counts[what] ?? 0) + times;
    said[whom] = (said[whom] ?? 0) + (numberAt(event, "count") ?? 1);
  }
  return Object.fromEntries(
    Object.entries(all).map(([whom, counts]): [string, Json] => [
      whom,
      (said[whom] ?? 0) > most
        ? { [uncounted]: true }
        : Object.fromEntries(
            Object.entries(counts).map(([what, times]) => [what, Number.isNaN(times) ? "some" : times]),
          ),
    ]),
  );
}
