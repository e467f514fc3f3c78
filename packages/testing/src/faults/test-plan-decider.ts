import {
  type ProxiedCall,
  type CallFault,
  describeCall,
  type FaultDecider,
  mayBeStale,
} from "../fault-proxy/index.ts";
import type { TestPlan, PlannedWrite } from "./test-plan.ts";
import { anyName } from "./cluster-state.ts";

/** Injects the fault of a plan into its call, and records every write. */
export interface TestPlanDecider extends FaultDecider {
  /** True once the fault has occurred. */
  readonly hasFired: () => boolean;
  /** The call in which it occurred. */
  readonly affectedCall: () => ProxiedCall | undefined;
  /** The write requests, in order. */
  readonly writes: readonly ProxiedCall[];
}

/** The view that a stale plan freezes. */
export const staleViewName = "stale";

/**
 * @param running returns the number of the current run.
 */
export function testPlanDecider(plan: TestPlan | undefined, running: () => number): TestPlanDecider {
  const writes: ProxiedCall[] = [];
  let met: ProxiedCall | undefined;
  const ofWrite = (call: ProxiedCall): CallFault | undefined => {
    writes.push(call);
    if (plan === undefined || !("write" in plan) || plan.kind === "stale view") return undefined;
    if (writes.length !== plan.write.number || !isPlannedWrite(call, plan.write)) return undefined;
    met = call;
    return faultOf(plan);
  };
  return {
    ofCall(call) {
      if (call.isWrite) return ofWrite(call);
      if (plan?.kind !== "stale view" || running() !== plan.run || !mayBeStale(call)) return undefined;
      met = call;
      return { do: "stale", view: staleViewName };
    },
    hasFired: () => met !== undefined,
    affectedCall: () => met,
    writes,
  };
}

/** The call in words. Requests to other servers differ only in their query. */
export const callName = (call: ProxiedCall): string =>
  call.resource === "" && call.query !== "" ? `${describeCall(call)}?${call.query}` : describeCall(call);

/** Identifies the kind of request and its place. */
export const writeName = (call: ProxiedCall): string => {
  const { verb, resource, subresource } = call;
  return resource === "" ? callName(call) : `${verb} ${[resource, subresource].filter(Boolean).join("/")}`;
};

/** A star in the plan stands for a path segment that is different every time. */
function isPlannedWrite(call: ProxiedCall, { what }: PlannedWrite): boolean {
  const [is, meant] = [writeName(call).split("/"), what.split("/")];
  return is.length === meant.length && meant.every((part, i) => part === anyName || part === is[i]);
}

function faultOf(
  plan: Exclude<Extract<TestPlan, { readonly write: PlannedWrite }>, { readonly kind: "stale view" }>,
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
    case "timed out":
      return { do: "hang after" };
    case "repeated":
      return { do: "repeat" };
    case "refused":
      return { do: "refuse", status: plan.status };
  }
}
