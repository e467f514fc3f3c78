/**
 * # @drover/testing
 *
 * Tests functions without a cluster, and breaks them. Everything is in one process, one step at a time: an API server (the
 * sandbox), the bridge's rules (`stepped-bridge`), the queue's (`openSteppedQueue` of @drover/queue/memory), the runtime's
 * `reconcileOnce`, and a clock that stands still. So nothing waits, and the same happens every time.
 *
 * - `testReconcile`: one reconcile in a world that is described, and all that it changed, as text.
 * - `testCluster`: a function in a cluster; `runUntilIdle()` lets hours of backoff pass in no time.
 * - `testFaults`, and `drover test --faults`: a scenario without faults, then once with each fault that can be derived from
 *   it. `faults/` in the order of what happens: `scenario`, `baseline`, `derive-plans`, `execute-scenario`, `compare`, `story`.
 *
 * `simulation/simulation.ts` puts the parts together. Each process of the function (`process/function-process.ts`) reaches
 * every server through a fault proxy of its own, where it can be killed before or after any request. The proxy serves
 * other programs, too: it is @drover/testing/fault-proxy (`fault-proxy/`).
 *
 * What people do is what kubectl does (`kubectl-apply`), and what the function does is refused where its ServiceAccount has no
 * right to it (`rights`), as in a cluster.
 *
 * Guarantees: a killed process does nothing more, and the next one has nothing of its memory but what the function under test
 * keeps outside of what it is given. Assumptions: functions wait by their results, not by sleeping.
 *
 * Caveats: one run at a time; runs are not ended by their timeout; who calls functions by webhook is not in it. The bridge's
 * watches are not in it either: it lists and compares, so what comes and goes between two looks is never seen
 * (docs/decisions/0015).
 */
export { startFunction, type FunctionUnderTest } from "./function-under-test.ts";
export { MissingPermissionError } from "./rights.ts";
export { testReconcile } from "./test-reconcile.ts";
export { testCluster, type TestCluster } from "./test-cluster.ts";
export { sharedServer } from "./test-server.ts";
export type { Manifest, User } from "./kubectl/user.ts";
export { faultScenario, type OutsideWorld, type Scenario } from "./faults/scenario.ts";
export { type FaultReport, type PlanResult, testFaults } from "./faults/test-faults.ts";
export { type TestPlan } from "./faults/test-plan.ts";
