/** A proxy in front of an API server, or of any HTTP server, that injects faults. */
export { describeRecord, faultPlanDecider, parsePlan, startFaultProxy } from "@drover/testing/fault-proxy";
