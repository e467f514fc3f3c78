import { faultScenario } from "drover/testing";
import { controller } from "./controller.ts";
import deployedAs from "./function.ts";

const hello = { apiVersion: "example.com/v1alpha1", kind: "Greeting", metadata: { name: "hello" } };

/** The steps of a user. `npx drover test --faults` repeats them with each fault, and compares the final states. */
export default faultScenario({
  name: "a greeting comes, changes and goes",
  start: () => controller,
  // The function gets only the permissions that this grants, and 403 for everything else.
  deployedAs,
  steps: [
    { apply: { ...hello, spec: { name: "Ada" } } },
    { apply: { ...hello, spec: { name: "Ada", loudly: true } } },
    { delete: { apiVersion: "example.com/v1alpha1", kind: "Greeting", name: "hello" } },
  ],
});
