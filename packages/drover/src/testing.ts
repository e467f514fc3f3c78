/** Tests of a function, without a cluster and with the faults that it can meet in one. */
export {
  faultScenario,
  type FunctionUnderTest,
  type Manifest,
  type Scenario,
  sharedServer,
  testCluster,
  type TestCluster,
  testFaults,
  testReconcile,
} from "@drover/testing";
