import { faultScenario } from "@drover/testing";
import { controller } from "./controller.ts";
import deployedAs from "./function.ts";

const hello = { apiVersion: "example.com/v1alpha1", kind: "Greeting", metadata: { name: "hello" } };

/** What people do. `npx drover test --faults` lives through it with everything that can go wrong, and compares the ends. */
export default faultScenario({
  name: "a greeting comes, changes and goes",
  start: () => controller,
  // It may do what this grants, and meets 403 at all else.
  deployedAs,
  steps: [
    { apply: { ...hello, spec: { name: "Ada" } } },
    { apply: { ...hello, spec: { name: "Ada", loudly: true } } },
    { delete: { apiVersion: "example.com/v1alpha1", kind: "Greeting", name: "hello" } },
  ],
});
