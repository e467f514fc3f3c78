/**
 * # @drover/testing/fault-proxy
 *
 * A proxy in front of a real server, usually a Kubernetes API server, that injects faults. Clients connect over plain
 * HTTP on loopback. Their calls are forwarded with the credentials of any kubeconfig, unchanged and at once, except for
 * the faults that a **decider** chooses:
 *
 *   client -> proxy-listener.ts          an address for each process of the client
 *          -> calls/proxied-call.ts      the call, described as Kubernetes' RequestInfo does
 *          -> decider                    chooses its fault, if any (plan/faults.ts)
 *          -> calls/call-handler.ts      carries the fault out, or asks the server (upstream.ts)
 *          -> responses/pass-watch.ts    passes the events of a watch on; each may meet a fault (broken-events.ts)
 *          -> calls/call-record.ts       records what the server did and what the client got
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
export { type ProxiedCall, parseCall, type Verb } from "./calls/proxied-call.ts";
export { type FaultProxy, type FaultProxyOptions, startFaultProxy } from "./fault-proxy.ts";
export {
  type CallFault,
  type EventFault,
  type FaultDecider,
  noFaults,
  type SpoiledList,
  type WatchedEvent,
} from "./plan/faults.ts";
export { faultPlanDecider, type FaultPlanDecider } from "./plan/fault-plan-decider.ts";
export { mayBeStale } from "./calls/may-be-stale.ts";
export { parsePlan, type FaultPlan } from "./plan/fault-plan.ts";
export { readLines } from "./responses/read-lines.ts";
export { parseResponseObject, type CallRecord, type EventRecord, eventRecord } from "./calls/call-record.ts";
export {
  describeCall,
  describeEntry,
  describeEvent,
  describeFault,
  describeRecord,
} from "./calls/describe-record.ts";
export type { Upstream } from "./upstream.ts";
