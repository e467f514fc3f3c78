/**
 * # @drover/testing
 *
 * Tests functions without a cluster, and breaks them. Everything is in one process, one step at a time: an API server (the
 * sandbox), the bridge's rules (`stepped-bridge`), the queue's (`openSteppedQueue` of @drover/queue/memory), the runtime's
 * `reconcileOnce`, and a clock that stands still. So no test waits, and every run is the same.
 *
 * - `testReconcile`: one reconcile in a cluster with given objects, and all its changes, as text.
 * - `testCluster`: a function in a cluster; `runUntilIdle()` skips hours of backoff.
 * - `testFaults`, and `drover test --faults`: a scenario without faults, then once with each fault that can be derived from
 *   it. `faults/` in the order of what happens: `scenario`, `baseline`, `derive-plans`, `execute-scenario`, `compare`, `story`.
 *
 * `simulation/simulation.ts` puts the parts together. Each process of the function (`process/function-process.ts`) reaches
 * every server through a fault proxy of its own, where it can be killed before or after any request. The proxy serves
 * other programs, too: it is @drover/testing/fault-proxy (`fault-proxy/`).
 *
 * Users' changes are made as kubectl makes them (`kubectl-apply`). The function's calls are refused where its ServiceAccount
 * has no permission (`rights`), as in a cluster.
 *
 * Guarantees: a killed process does nothing more, and the next one has none of its memory, except for state that the function
 * under test keeps outside of `start`. Assumptions: functions wait by their results, not by sleeping.
 *
 * Caveats: one run at a time; runs are ended by their timeout only where a call hangs; completions of called functions are not simulated.
 * Nor are the bridge's watches: it lists and compares, so it misses an object that exists only between two lists
 * (docs/decisions/0015).
 */
export { startFunction, type FunctionUnderTest, type RunningFunction } from "./function-under-test.ts";
export { MissingPermissionError } from "./rights.ts";
export { testReconcile } from "./test-reconcile.ts";
export { testCluster, type TestCluster } from "./test-cluster.ts";
export { sharedServer, successiveSandboxes } from "./test-server.ts";
export { type Manifest, openUser, type User } from "./kubectl/user.ts";
export { faultScenario, type OutsideWorld, type Scenario, type ScenarioStep } from "./faults/scenario.ts";
export { type FaultCounts, reportFaults } from "./faults/report-faults.ts";
export { type FaultReport, type PlanResult, testFaults } from "./faults/test-faults.ts";
export { type TestPlan } from "./faults/test-plan.ts";
