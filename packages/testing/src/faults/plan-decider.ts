import { type Call, type CallFault, describeCall, type FaultDecider, mayBeStale } from "@drover/fault-proxy";
import type { Plan, PlannedWrite } from "./plan.ts";
import { anyName } from "./state.ts";

/** Lets a plan's fault meet its call, and notes every write on its way. */
export interface PlanDecider extends FaultDecider {
  /** Whether the fault has met the call that it was meant for. */
  readonly hasMet: () => boolean;
  /** The one that it has met. */
  readonly met: () => Call | undefined;
  /** Those that were to change something, in the order in which they came. */
  readonly writes: readonly Call[];
}

/** The view that a stale plan freezes. */
export const staleView = "stale";

/**
 * @param running the number of the run that is under way.
 */
export function planDecider(plan: Plan | undefined, running: () => number): PlanDecider {
  const writes: Call[] = [];
  let met: Call | undefined;
  const ofWrite = (call: Call): CallFault | undefined => {
    writes.push(call);
    if (plan === undefined || !("write" in plan) || plan.kind === "stale view") return undefined;
    if (writes.length !== plan.write.number || !isMeant(call, plan.write)) return undefined;
    met = call;
    return faultOf(plan);
  };
  return {
    ofCall(call) {
      if (call.isWrite) return ofWrite(call);
      if (plan?.kind !== "stale view" || running() !== plan.run || !mayBeStale(call)) return undefined;
      met = call;
      return { do: "stale", view: staleView };
    },
    hasMet: () => met !== undefined,
    met: () => met,
    writes,
  };
}

/** For people. The query is what tells requests to other servers apart. */
export const callName = (call: Call): string =>
  call.resource === "" && call.query !== "" ? `${describeCall(call)}?${call.query}` : describeCall(call);

/** The same kind of request, at the same place. */
export const writeName = (call: Call): string => {
  const { verb, resource, subresource } = call;
  return resource === "" ? callName(call) : `${verb} ${[resource, subresource].filter(Boolean).join("/")}`;
};

/** A part of a path that is another one every time is a star. */
function isMeant(call: Call, { what }: PlannedWrite): boolean {
  const [is, meant] = [writeName(call).split("/"), what.split("/")];
  return is.length === meant.length && meant.every((part, i) => part === anyName || part === is[i]);
}

function faultOf(
  plan: Extract<Plan, { kind: "crash" | "down" | "interfered" | "lost answer" | "refused" }>,
): CallFault {
  switch (plan.kind) {
    case "crash":
      return { do: "kill", when: plan.when };
    case "down":
      return { do: "kill", when: "after" };
    case "interfered":
      return { do: "delay", for: 0 };
    case "lost answer":
      return { do: "lose answer" };
    case "refused":
      return { do: "refuse", status: plan.status };
  }
}
