/**
 * # @drover/fault-proxy
 *
 * A proxy in front of a real server, usually a Kubernetes API server, that injects faults. Clients connect over plain
 * HTTP on loopback. Their calls are forwarded with the credentials of any kubeconfig, unchanged and at once, except for
 * the faults that a **decider** chooses:
 *
 *   client -> listener -> call.ts   the call, described as Kubernetes' RequestInfo does
 *                  -> decider       chooses its fault, if any (faults.ts)
 *                  -> serve-call.ts carries the fault out, or asks the server (upstream.ts)
 *                  -> pass-watch.ts passes the events of a watch on, each of which may meet a fault (broken-events.ts)
 *                  -> record.ts     records what the server did and what the client got; story.ts describes it in words
 *
 * Each client process has a number (`life` in a plan) and uses one listener. When it is killed, none of its calls reaches
 * the server any more and none is answered; `nextProcess()` or another `openListener()` accepts its successor.
 *
 * Guarantees: a write that was forwarded is carried out even if its client has gone, so `committed` is known; ids,
 * decisions and the record have one order. In front of a server other than an API server, calls have the verb `other`,
 * and all headers, including `Host` and signatures, pass unchanged.
 *
 * Caveats: HTTP/1.1 only, and no upgrades (exec, attach, port-forward). A client that accepts JSON from an API server
 * gets JSON, uncompressed, so that the proxy can read it; a watch that must be protobuf meets no faults at its events.
 */
export { type ProxiedCall, parseCall, type Verb } from "./call.ts";
export {
  type ProxyListener,
  type FaultProxy,
  type FaultProxyOptions,
  startFaultProxy,
} from "./fault-proxy.ts";
export {
  type CallFault,
  type EventFault,
  type FaultDecider,
  noFaults,
  type SpoiledList,
  type WatchedEvent,
} from "./faults.ts";
export { faultPlanDecider, type FaultPlanDecider } from "./decide-plan.ts";
export { mayBeStale } from "./may-be-stale.ts";
export { InvalidPlanError, parsePlan, type FaultPlan, type FaultRule, type RuleCondition } from "./plan.ts";
export { type RandomKind, randomKinds, defaultKinds } from "./random-faults.ts";
export { readLines } from "./lines-of.ts";
export {
  type ResponseObject,
  parseResponseObject,
  type CallRecord,
  type EventRecord,
  eventRecord,
  type ServerResult,
} from "./record.ts";
export { describeCall, describeEntry, describeEvent, describeFault, describeRecord } from "./story.ts";
export type { Upstream } from "./upstream.ts";
