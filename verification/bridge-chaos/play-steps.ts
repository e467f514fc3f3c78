import type { Milliseconds } from "@drover/controller";
import { setTimeout as delay } from "node:timers/promises";
import { now } from "../harness/clock.ts";
import type { Bridge } from "./bridge-process.ts";
import type { EventLog } from "../harness/event-log.ts";
import type { Observation } from "./oracle/facts.ts";
import type { Load } from "./load.ts";
import type { Proxy } from "./proxy/proxy.ts";
import {
  type FaultKind,
  type FrameFault,
  isFrameFault,
  isListFault,
  isRequestFault,
  isWatchFault,
  type RequestFault,
  type Step,
} from "./schedules/schedule.ts";

export interface ScheduleParts {
  readonly log: EventLog<Observation>;
  readonly proxy: Proxy;
  readonly bridge: Bridge;
  readonly load: Load;
  /** True if a run has seen every change. */
  readonly isAtRest: () => boolean;
}

/** How long a fault waits for something to meet. */
const patience: Milliseconds = 8_000;
/** How long a kill waits for an event. */
const moment: Milliseconds = 2_000;
/** How long a bridge may take to come up on a busy machine. */
const startTimeout: Milliseconds = 30_000;
/** How long a change may be under way to the bridge. */
const frameGap: Milliseconds = 100;
/** How long `settle` waits: what takes longer overlaps the next step. */
const settling: Milliseconds = 5_000;

/** Plays the steps, one after the other, except those that overlap the next ones. At the end nothing is broken. */
export async function play(parts: ScheduleParts, steps: readonly Step[]): Promise<void> {
  const goingOn: Promise<void>[] = [];
  for (const step of steps) {
    const playing = playOne(parts, step);
    if ("beside" in step && step.beside === true) goingOn.push(playing);
    else await playing;
  }
  await Promise.all(goingOn);
  await parts.proxy.open();
  await parts.bridge.start();
}

async function playOne(parts: ScheduleParts, step: Step): Promise<void> {
  if (isRequestFault(step)) return breakRequests(parts, step);
  if (isFrameFault(step)) return breakFrames(parts, step);
  switch (step.do) {
    case "bridge-start":
      return parts.bridge.start();
    case "changes":
      return parts.load.run(step.changes);
    case "settle":
      await isUp(parts);
      await parts.log.until(parts.isAtRest, settling);
      return;
    case "refuse":
      return named(parts, step.do, async () => {
        await parts.proxy.shut();
        await Promise.all([delay(step.for), parts.load.run(step.changes)]);
        await parts.proxy.open();
      });
    case "bridge-kill":
      return named(parts, step.do, () => kill(parts, step));
    default:
      return;
  }
}

async function breakRequests({ proxy, load, log }: ScheduleParts, fault: RequestFault): Promise<void> {
  const { faults } = proxy;
  const armed = faults.armRequests(fault);
  // So that there is a request to meet; a list comes after what has expired.
  const needsList = isListFault(fault.do) && !isWatchFault(fault.do);
  const expires = needsList && !proxy.endWatches("410");
  if (!needsList) proxy.endWatches(fault.ending);
  if (expires) faults.expireNext(true);
  const met = isUp({ proxy, log }).then(() => log.until(() => armed.isUsedUp(), patience));
  await Promise.all([met, delay(fault.for), load.run(fault.changes)]);
  if (expires) faults.expireNext(false);
  armed.disarm();
}

async function breakFrames({ proxy, load, log }: ScheduleParts, fault: FrameFault): Promise<void> {
  const armed = proxy.faults.armFrames(fault);
  await load.run(fault.changes);
  await isUp({ proxy, log });
  const until = now() + patience;
  // The bridge may have been away all the while.
  while (!(await log.until(() => armed.isUsedUp(), frameGap)) && now() < until) await load.run(1);
  armed.disarm();
}

/** Resolves when the present bridge has sent its first request: waits are counted from then on. */
const isUp = ({ proxy, log }: Pick<ScheduleParts, "proxy" | "log">): Promise<boolean> =>
  log.until(() => proxy.isAsked(), startTimeout);

async function kill(parts: ScheduleParts, step: Extract<Step, { do: "bridge-kill" }>): Promise<void> {
  const { proxy, bridge, load } = parts;
  const isPage = step.at === "page";
  const expires = isPage && !proxy.endWatches("410");
  if (expires) proxy.faults.expireNext(true);
  const comes = proxy.passing.next(step.at, step.nth, isPage ? patience : moment);
  const changing = load.run(step.changes);
  await comes;
  if (step.after > 0) await delay(step.after);
  await bridge.kill();
  if (expires) proxy.faults.expireNext(false);
  await changing;
  await Promise.all([delay(step.down), load.run(step.meanwhile)]);
  await bridge.start();
}

async function named({ log }: ScheduleParts, kind: FaultKind, act: () => Promise<void>): Promise<void> {
  log.note({ fact: "fault", kind, phase: "bites", bites: 1 });
  await act();
  log.note({ fact: "fault", kind, phase: "over", bites: 1 });
}
