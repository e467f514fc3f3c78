import type { Milliseconds } from "@drover/controller";
import { setTimeout as delay } from "node:timers/promises";
import { now } from "../harness/clock.ts";
import type { Bridge } from "./bridge-process.ts";
import type { EventLog } from "../harness/event-log.ts";
import type { Happening } from "./oracle/facts.ts";
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

export interface Stage {
  readonly journal: EventLog<Happening>;
  readonly proxy: Proxy;
  readonly bridge: Bridge;
  readonly load: Load;
  /** Whether all that changed was seen. */
  readonly isAtRest: () => boolean;
}

/** How long a fault waits for something to meet. */
const patience: Milliseconds = 8_000;
/** How long a kill waits for an event. */
const moment: Milliseconds = 2_000;
/** How long a bridge may take to come up on a busy machine. */
const birth: Milliseconds = 30_000;
/** How long a change may be under way to the bridge. */
const frameGap: Milliseconds = 100;
/** How long `settle` waits: what takes longer goes on beside the next step. */
const settling: Milliseconds = 5_000;

/** Plays the steps, one after the other but for those that go on beside the next ones. Leaves nothing broken. */
export async function play(stage: Stage, steps: readonly Step[]): Promise<void> {
  const goingOn: Promise<void>[] = [];
  for (const step of steps) {
    const playing = playOne(stage, step);
    if ("beside" in step && step.beside === true) goingOn.push(playing);
    else await playing;
  }
  await Promise.all(goingOn);
  await stage.proxy.open();
  await stage.bridge.start();
}

async function playOne(stage: Stage, step: Step): Promise<void> {
  if (isRequestFault(step)) return breakRequests(stage, step);
  if (isFrameFault(step)) return breakFrames(stage, step);
  switch (step.do) {
    case "bridge-start":
      return stage.bridge.start();
    case "changes":
      return stage.load.run(step.changes);
    case "settle":
      await isUp(stage);
      await stage.journal.until(stage.isAtRest, settling);
      return;
    case "refuse":
      return named(stage, step.do, async () => {
        await stage.proxy.shut();
        await Promise.all([delay(step.for), stage.load.run(step.changes)]);
        await stage.proxy.open();
      });
    case "bridge-kill":
      return named(stage, step.do, () => kill(stage, step));
    default:
      return;
  }
}

async function breakRequests({ proxy, load, journal }: Stage, fault: RequestFault): Promise<void> {
  const { faults } = proxy;
  const armed = faults.armRequests(fault);
  // So that there is a request to meet; a list comes after what has expired.
  const needsList = isListFault(fault.do) && !isWatchFault(fault.do);
  const expires = needsList && !proxy.endWatches("410");
  if (!needsList) proxy.endWatches(fault.ending);
  if (expires) faults.expireNext(true);
  const met = isUp({ proxy, journal }).then(() => journal.until(() => armed.isUsedUp(), patience));
  await Promise.all([met, delay(fault.for), load.run(fault.changes)]);
  if (expires) faults.expireNext(false);
  armed.disarm();
}

async function breakFrames({ proxy, load, journal }: Stage, fault: FrameFault): Promise<void> {
  const armed = proxy.faults.armFrames(fault);
  await load.run(fault.changes);
  await isUp({ proxy, journal });
  const until = now() + patience;
  // The bridge may have been away all the while.
  while (!(await journal.until(() => armed.isUsedUp(), frameGap)) && now() < until) await load.run(1);
  armed.disarm();
}

/** What is waited for is waited for from the moment on at which a bridge can do anything about it. */
const isUp = ({ proxy, journal }: Pick<Stage, "proxy" | "journal">): Promise<boolean> =>
  journal.until(() => proxy.isAsked(), birth);

async function kill(stage: Stage, step: Extract<Step, { do: "bridge-kill" }>): Promise<void> {
  const { proxy, bridge, load } = stage;
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

async function named({ journal }: Stage, kind: FaultKind, act: () => Promise<void>): Promise<void> {
  journal.note({ fact: "fault", kind, phase: "bites", bites: 1 });
  await act();
  journal.note({ fact: "fault", kind, phase: "over", bites: 1 });
}
