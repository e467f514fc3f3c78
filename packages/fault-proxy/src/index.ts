/**
 * # @drover/fault-proxy
 *
 * A proxy in front of a real server, most of all of a Kubernetes API server, that lets go wrong what can. Clients come
 * in over plain HTTP on loopback; what they ask is passed on with the credentials of any kubeconfig, faithfully and as
 * it comes, but for the faults that a **decider** has for it:
 *
 *   client -> door -> call.ts       what is asked, as Kubernetes' RequestInfo has it
 *                  -> decider       which fault it meets, if any (faults.ts)
 *                  -> serve-call.ts carries the fault out, or asks the server (upstream.ts)
 *                  -> pass-watch.ts passes the events of a watch on, each of which may meet a fault (broken-events.ts)
 *                  -> record.ts     notes what the server did and what the client was told; story.ts says it in words
 *
 * A **life** is one process behind a door. When it is killed, nothing of it reaches the server any more and nothing is
 * answered; `nextLife()` or another `door()` lets its successor in.
 *
 * Guarantees: a write that was forwarded is carried through whoever has gone meanwhile, so `committed` is known; ids,
 * decisions and the record have one order. In front of what is no API server, calls have the verb `other`, and all
 * headers, `Host` and signatures too, pass untouched.
 *
 * Caveats: HTTP/1.1 only, and no upgrades (exec, attach, port-forward). Who takes JSON from an API server is given JSON,
 * uncompressed, so that it can be read on its way; a watch that must be protobuf meets no faults at its events.
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
