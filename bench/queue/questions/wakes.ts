import type { RedisServer } from "@drover/local-servers";
import type { ContenderName } from "../contenders/contender.ts";
import { serverCpu } from "../measures/server-figures.ts";
import type { Plan } from "../plan.ts";
import { bulk, type Team } from "../processes/team.ts";

/** In one call: 200 keys, one key, or 200 keys that are due already. */
export const wakeKinds = ["bulk", "single", "folded"] as const;
export type WakeKind = (typeof wakeKinds)[number];

/** One window of waking, without a worker. */
export interface WakeFigures {
  readonly contender: ContenderName;
  readonly depth: number;
  readonly round: number;
  readonly kind: WakeKind;
  readonly wakesPerSecond: number;
  /** µs per wake. */
  readonly producerCpu: number;
  /** µs per wake. */
  readonly serverCpu: number;
}

/** One call after the other, with `depth` keys due or more. */
export async function measureWakes(
  server: RedisServer,
  team: Team,
  kind: WakeKind,
  { depth, round, plan }: { depth: number; round: number; plan: Plan },
): Promise<WakeFigures> {
  const how = { perCall: kind === "single" ? 1 : bulk, lasts: plan.wakeWindow };
  const before = await serverCpu(server);
  const woken = await (kind === "folded"
    ? team.wakeAgain(plan.wakesAtMost, how)
    : team.wake(plan.wakesAtMost, how));
  const used = (await serverCpu(server)) - before;
  return {
    contender: team.name,
    depth,
    round,
    kind,
    wakesPerSecond: (1_000 * woken.wakes) / (woken.ended - woken.began),
    producerCpu: woken.cpu / woken.wakes,
    serverCpu: used / woken.wakes,
  };
}
