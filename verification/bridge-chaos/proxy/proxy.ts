import { freePort } from "@drover/local-servers";
import {
  type ProxiedCall,
  type CallRecord,
  type FaultProxy,
  startFaultProxy,
} from "@drover/testing/fault-proxy";
import type { Milliseconds } from "@drover/controller";
import { now } from "../../harness/clock.ts";
import { armedFaults, type ArmedFaults } from "./armed-faults.ts";
import { classifyRequest, withPagesOf } from "./classify-request.ts";
import type { Observation, Verb } from "../oracle/facts.ts";
import { callFaultOf, eventFaultOf } from "./faults-of.ts";
import type { EventLog } from "../../harness/event-log.ts";
import type { RequestFaultKind, Schedule } from "../schedules/schedule.ts";
import { passedCounter, type PassedCounter } from "./passed-counter.ts";

/** Stands between a bridge and the API server, and notes every request. */
export interface Proxy extends Pick<
  FaultProxy,
  "url" | "kubeconfig" | "endWatches" | "shut" | "open" | "nextProcess" | "close"
> {
  readonly faults: ArmedFaults;
  readonly passing: PassedCounter;
  /** True if the bridge that runs now, or comes next, has asked for anything yet. */
  isAsked(): boolean;
}

export interface ProxyOptions {
  /** The kubeconfig of the API server. */
  readonly kubeconfig: string;
  /** The collection that faults are for. */
  readonly path: string;
  readonly log: EventLog<Observation>;
  readonly schedule: Pick<Schedule, "page" | "pieces" | "watchList">;
}

/** Opens it on a port that stays its own, also while it is shut. */
export async function startProxy({ kubeconfig, path, log, schedule }: ProxyOptions): Promise<Proxy> {
  const faults = armedFaults(log);
  const passing = passedCounter();
  const met = new Map<number, RequestFaultKind>();
  let lastAsked = -1;
  const verbOf = (call: ProxiedCall): Verb => classifyRequest(call, path).verb;
  const proxy = await startFaultProxy({
    upstream: { kubeconfig },
    port: await freePort(),
    pieces: schedule.pieces,
    rewrite: ({ method }, url) => (method === "GET" ? withPagesOf(url, schedule.page) : url),
    decider: {
      ofCall(call) {
        const { id, life } = call;
        const asked = classifyRequest(call, path);
        lastAsked = life;
        log.note({ fact: "asked", id, life, ...asked });
        if (asked.verb === "stream" && !schedule.watchList) return { do: "refuse", status: 422 };
        const fault = faults.ofRequest(asked.verb);
        if (fault === undefined) return undefined;
        if (fault.do === "expired") return { do: "refuse", status: 410 };
        met.set(id, fault.do);
        return callFaultOf(fault, asked.verb);
      },
      ofEvent({ isListed }, call) {
        if (verbOf(call) === "other") return undefined;
        passing.add(isListed ? "page" : "event");
        const fault = faults.ofFrame();
        return fault && eventFaultOf(fault.do);
      },
    },
    onEntry({ call, client, fault, retryAfter }) {
      const verb = verbOf(call);
      if (fault === undefined && (verb === "list" || verb === "page")) passing.add("page");
      const status = typeof client === "number" ? client : 0;
      const cause = met.get(call.id);
      log.note({
        fact: "answered",
        id: call.id,
        status,
        ...closed(retryAfter),
        ...(cause && { fault: cause }),
      });
    },
  });
  return { ...proxy, faults, passing, isAsked: () => lastAsked === proxy.processNumber };
}

/** Until when a header asks to be left alone; one that is nonsense does not. */
function closed(retryAfter: CallRecord["retryAfter"]): { readonly closedUntil?: Milliseconds } {
  if (retryAfter === undefined) return {};
  if (/^\d+$/.test(retryAfter)) return { closedUntil: now() + Number(retryAfter) * 1_000 };
  return retryAfter.endsWith("GMT") ? { closedUntil: now() + Date.parse(retryAfter) - Date.now() } : {};
}
