export type { FunctionUnderTest, FunctionWorld, Living } from "./function-under-test.ts";
export type { RunRecord } from "./run-record.ts";
export { type KindName, UnknownKindError } from "./served-kinds.ts";
export { NeverSettledError } from "./settle.ts";
export { StuckRunError } from "./stage.ts";
export { type DescribedWorld, type Reconciled, testReconcile } from "./test-reconcile.ts";
export { testCluster, type TestCluster, type TestClusterOptions } from "./test-cluster.ts";
export type { Manifest, User } from "./user.ts";
export { faultScenario, type OutsideWorld, type Scenario, type Step } from "./faults/scenario.ts";
export {
  type FaultReport,
  type PlanResult,
  testFaults,
  type TestFaultsOptions,
} from "./faults/test-faults.ts";
export { type Plan, planWords } from "./faults/plan.ts";
