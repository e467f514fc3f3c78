import { faultScenario, type Manifest } from "drover/testing";
import { exposedDeployments } from "./exposed-deployments.ts";

const kind = { apiVersion: "apps/v1", kind: "Deployment" };
const app = { app: "shop" };
const deployment = (labels: Readonly<Record<string, string>>): Manifest => ({
  ...kind,
  metadata: { name: "shop", labels: { ...app, ...labels } },
  spec: {
    selector: { matchLabels: app },
    template: { metadata: { labels: app }, spec: { containers: [{ name: "web", image: "web:1" }] } },
  },
});

export default faultScenario({
  name: "a Deployment is exposed at a port, at another, at none, and goes",
  start: () => exposedDeployments,
  steps: [
    { apply: deployment({ "example.com/expose": "8080" }) },
    { apply: deployment({ "example.com/expose": "9090" }) },
    { apply: deployment({}) },
    { apply: deployment({ "example.com/expose": "8080" }) },
    { delete: { ...kind, name: "shop" } },
  ],
});
