import { foreignResource, TerminalError } from "drover";
import { composeController } from "drover/compose";
import { builtin, type ChildOf, kindOf } from "drover/kube";
import { z } from "zod";

const portLabel = "example.com/expose";

/** The kind of Kubernetes, with the fields that are read here. Its status belongs to Kubernetes. */
const Deployment = foreignResource({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  scope: "Namespaced",
  spec: z.looseObject({ selector: z.looseObject({ matchLabels: z.record(z.string(), z.string()) }) }),
  status: z.looseObject({}),
});

/**
 * Decorates objects of a kind that others define: each Deployment with the label `example.com/expose: "8080"` gets a Service
 * for that port. When the label goes, so does the Service. Nothing is written to the Deployment itself.
 */
export const exposedDeployments = composeController({
  name: "exposed-deployments",
  for: Deployment,
  owns: [{ kind: kindOf(builtin.service) }],
  compose({ metadata: { name, labels = {} }, spec }) {
    const text = labels[portLabel];
    if (text === undefined) return { children: [] };
    const port = Number(text);
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new TerminalError(`Give the label ${portLabel} a port, from 1 to 65535.`);
    const service: ChildOf<"Service"> = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name },
      spec: { selector: spec.selector.matchLabels, ports: [{ port }] },
    };
    return { children: [service] };
  },
});
