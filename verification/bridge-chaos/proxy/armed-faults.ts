import type { Observation, Verb } from "../oracle/facts.ts";
import type { EventLog } from "../../harness/event-log.ts";
import {
  type FrameFault,
  isListFault,
  isWatchFault,
  type RequestFault,
  type RequestFaultKind,
} from "../schedules/schedule.ts";

/** A fault that stands ready. */
export interface Armed {
  /** It has met as much as it was to meet. */
  isUsedUp(): boolean;
  /** Takes it away. */
  disarm(): void;
}

/** The faults that stand ready, and which of them meets what comes. */
export interface ArmedFaults {
  armRequests(fault: RequestFault): Armed;
  armFrames(fault: FrameFault): Armed;
  /** The next request for a watch is answered with a 410, unless a list comes first. */
  expireNext(expires: boolean): void;
  /** The fault that this request meets. */
  ofRequest(verb: Verb): RequestFault | { readonly do: "expired" } | undefined;
  /** The fault that this event meets. */
  ofFrame(): FrameFault | undefined;
}

interface Ready<Fault> {
  readonly fault: Fault;
  /** Events that it lets pass. */
  passes: number;
  bites: number;
}

export function armedFaults(log: EventLog<Observation>): ArmedFaults {
  const requests = new Set<Ready<RequestFault>>();
  const frames = new Set<Ready<FrameFault>>();
  let expires = false;

  const arm = <Fault extends RequestFault | FrameFault>(
    all: Set<Ready<Fault>>,
    fault: Fault,
    passes: number,
  ): Armed => {
    const ready = { fault, passes, bites: 0 };
    all.add(ready);
    log.note({ fact: "fault", kind: fault.do, phase: "armed", bites: 0 });
    return {
      isUsedUp: () => ready.bites >= fault.times,
      disarm() {
        if (all.delete(ready)) log.note({ fact: "fault", kind: fault.do, phase: "over", bites: ready.bites });
      },
    };
  };
  const bite = <Fault extends RequestFault | FrameFault>(ready: Ready<Fault>): Fault => {
    ready.bites++;
    log.note({ fact: "fault", kind: ready.fault.do, phase: "bites", bites: ready.bites });
    return ready.fault;
  };
  return {
    armRequests: (fault) => arm(requests, fault, 0),
    armFrames: (fault) => arm(frames, fault, fault.frame - 1),
    expireNext: (next) => void (expires = next),
    ofRequest(verb) {
      const isList = verb === "list" || verb === "page" || verb === "stream";
      const met = [...requests].find(({ fault, bites }) => {
        // For as long as it stands, all that comes; but one that leaves requests hanging is content with what it has.
        const isEnough = fault.do.endsWith("-hang") && bites >= fault.times;
        return !isEnough && meets(fault.do, verb);
      });
      const expired = expires && verb === "watch" && met === undefined;
      if (expired || isList) expires = false;
      if (met !== undefined) return bite(met);
      return expired ? { do: "expired" } : undefined;
    },
    ofFrame() {
      for (const ready of frames) {
        if (ready.bites >= ready.fault.times) continue;
        if (ready.passes-- > 0) continue;
        return bite(ready);
      }
      return undefined;
    },
  };
}

function meets(kind: RequestFaultKind, verb: Verb): boolean {
  switch (verb) {
    case "other":
      return kind === "all-401";
    case "watch":
      return isWatchFault(kind);
    // A list that comes as a stream is a watch to the server.
    case "stream":
      return isWatchFault(kind) || isListFault(kind);
    case "page":
      return isListFault(kind);
    case "list":
      return isListFault(kind) && kind !== "list-410";
  }
}
