import { userAgent as harness } from "../bridge/cluster/api.ts";
import type { AuditEntry } from "../bridge/cluster/audited.ts";
import { percentile } from "../../verification/harness/spread.ts";

/** The parts of a reaction, in their order; for a peer that does not read, the second and third are 0. */
export const legs = [
  "the change is written",
  "until it is read",
  "it is read",
  "until the status is sent",
  "the status is written",
] as const;
export type Leg = (typeof legs)[number];

/**
 * Where the time of reactions goes, by the API server's clock: the medians of each part, ms, over the objects that were
 * changed once in these entries of its audit log.
 */
export function medianLegs(entries: readonly AuditEntry[]): ReadonlyMap<Leg, number> {
  const byName = Map.groupBy(
    entries.filter(({ objectRef }) => objectRef?.resource === "gauges"),
    ({ objectRef }) => objectRef?.name ?? "",
  );
  const all = [...byName.values()].flatMap((some) => legsOf(some) ?? []);
  if (all.length === 0) return new Map();
  return new Map(
    legs.map((leg) => [
      leg,
      percentile(
        all.map((each) => each[leg]),
        50,
      ),
    ]),
  );
}

function legsOf(entries: readonly AuditEntry[]): Record<Leg, number> | undefined {
  const change = entries.find(({ verb, userAgent }) => verb === "patch" && userAgent === harness);
  const read = entries.find(({ verb }) => verb === "get");
  const status = entries.find(
    ({ objectRef, userAgent }) => objectRef?.subresource === "status" && userAgent !== harness,
  );
  if (change === undefined || status === undefined) return undefined;
  const lasted = (one: AuditEntry | undefined): number =>
    one === undefined ? 0 : one.stageTimestamp - one.requestReceivedTimestamp;
  return {
    "the change is written": lasted(change),
    "until it is read": read === undefined ? 0 : read.requestReceivedTimestamp - change.stageTimestamp,
    "it is read": lasted(read),
    "until the status is sent": status.requestReceivedTimestamp - (read ?? change).stageTimestamp,
    "the status is written": lasted(status),
  };
}
