import { faultScenario, type Manifest } from "drover/testing";
import { greetings } from "./greeting.ts";

const greeting = (spec: object): Manifest => ({
  apiVersion: "examples.drover.dev/v1",
  kind: "Greeting",
  metadata: { name: "a" },
  spec,
});

export default faultScenario({
  name: "a greeting comes, changes and goes",
  start: () => greetings(),
  steps: [
    { apply: greeting({ name: "Ada" }) },
    { apply: greeting({ name: "Grace" }) },
    { delete: { apiVersion: "examples.drover.dev/v1", kind: "Greeting", name: "a" } },
  ],
});
