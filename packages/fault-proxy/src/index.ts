/**
 * # @drover/fault-proxy
 *
 * A proxy in front of a real server, usually a Kubernetes API server, that injects faults. Clients connect over plain
 * HTTP on loopback. Their calls are forwarded with the credentials of any kubeconfig, unchanged and at once, except for
 * the faults that a **decider** chooses:
 *
 *   client -> door -> call.ts       the call, described as Kubernetes' RequestInfo does
 *                  -> decider       chooses its fault, if any (faults.ts)
 *                  -> serve-call.ts carries the fault out, or asks the server (upstream.ts)
 *                  -> pass-watch.ts passes the events of a watch on, each of which may meet a fault (broken-events.ts)
 *                  -> record.ts     records what the server did and what the client got; story.ts describes it in words
 *
 * A **life** is one client process behind a door. When it is killed, none of its calls reaches the server any more and
 * none is answered; `nextLife()` or another `door()` accepts its successor.
 *
 * Guarantees: a write that was forwarded is carried out even if its client has gone, so `committed` is known; ids,
 * decisions and the record have one order. In front of a server other than an API server, calls have the verb `other`,
 * and all headers, including `Host` and signatures, pass unchanged.
 *
 * Caveats: HTTP/1.1 only, and no upgrades (exec, attach, port-forward). A client that accepts JSON from an API server
 * gets JSON, uncompressed, so that the proxy can read it; a watch that must be protobuf meets no faults at its events.
 */
export { type Call, callOf, type Verb } from "./call.ts";
export { type Door, type FaultProxy, type FaultProxyOptions, startFaultProxy } from "./fault-proxy.ts";
export {
  type CallFault,
  type EventFault,
  type FaultDecider,
  noFaults,
  type SpoiledList,
  type WatchedEvent,
} from "./faults.ts";
export { decidePlan, type PlannedDecider } from "./decide-plan.ts";
export { mayBeStale } from "./may-be-stale.ts";
export { InvalidPlanError, parsePlan, type Plan, type Rule, type When } from "./plan.ts";
export { type RandomKind, randomKinds, usualKinds } from "./random-faults.ts";
export { linesOf } from "./lines-of.ts";
export { random, type Random } from "./random.ts";
export {
  type AnsweredObject,
  answeredObject,
  type Entry,
  type EventEntry,
  eventEntry,
  type ServerAnswer,
} from "./record.ts";
export { describeCall, describeEntry, describeEvent, describeFault, storyOf } from "./story.ts";
export type { Upstream } from "./upstream.ts";
