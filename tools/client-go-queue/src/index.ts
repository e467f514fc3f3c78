// The behaviour of client-go's work queue, as data: the reference for every queue that claims to behave like it.
//
//   for (const scenario of readScenarios()) {
//     it(scenario.sentence, () => { for (const step of scenario.steps) ... });
//   }
//
// A small Go program (../go) plays each scenario on a queue of k8s.io/client-go under a fake clock and prints what is
// to be seen after each step. What it printed is committed (../scenarios.json), so reading it needs no Go; a test of
// the real suite plays it again and finds the same.
//
// The scenarios are what client-go does, not what is good: README.md names those that another queue may well want to
// do otherwise.
export { readScenarios, type Scenario, type Step } from "./scenarios.ts";
