import { customResourceDefinition, objectKey, ReconcileFunction } from "@drover/controller";
import { refOf } from "@drover/kube";
import { z } from "zod";
import { exampleKind } from "../../harness/example-kind.ts";
import { core, kindRef, object } from "../../harness/manifests.ts";
import { type Attack, outcomeOf } from "../attack.ts";
import { readyOf } from "../installation.ts";
import { everything } from "../rights/function-of.ts";

const Probe = exampleKind("Probe", { spec: { n: z.int() } });

/**
 * The owner of a namespace writes the endpoints of a Service, so that the gateway calls what the owner cannot reach. The
 * cluster's Services have addresses of loopback, which the gateway calls for no Service: what it looked at the address of, it
 * would have called elsewhere.
 */
export const attack: Attack = {
  name: "a Service without a selector, or of another name, does not lead the gateway inside",
  kind: "server-side request forgery",
  needs: ["cluster"],
  async run({ cluster }) {
    const at = cluster();
    const namespace = await at.namespace("nora-unselected");
    const nora = { user: "nora-of-endpoints" };
    await at.grant(nora, everything, namespace);
    // The kind is the author's own: only where the gateway is led to is judged.
    await at.grant(nora, [{ apiGroups: [Probe.group], resources: ["*"], verbs: ["*"] }]);
    await at.apply([customResourceDefinition(Probe)]);
    await at.kubectl(["wait", "--for=condition=Established", `crd/probes.${Probe.group}`]);
    const as = await at.kubeconfigOf(nora);
    const service = (name: string, spec: object) =>
      core("Service", name, { spec: { ...spec, ports: [{ name: "http", port: 80 }] } }, namespace);
    const services = [
      service("by-hand", {}),
      service("empty", { selector: {} }),
      service("renamed", { type: "ExternalName", externalName: "kubernetes.default.svc.cluster.local" }),
      service("selecting", { selector: { app: "none" } }),
    ];
    const endpoints = {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      addressType: "IPv4",
      metadata: { name: "by-hand", namespace, labels: { "kubernetes.io/service-name": "by-hand" } },
      endpoints: [{ addresses: ["10.1.2.3"] }],
      ports: [{ name: "http", port: 80 }],
    };
    await at.apply([...services, endpoints], { as });
    /** The Ready condition of an object with a function behind a Service. */
    const outcome = async (name: string) => {
      const labels = { of: name };
      const spec = {
        for: { ...kindRef(Probe), namespaces: [namespace], labelSelector: { matchLabels: labels } },
        delivery: "webhook",
        timeout: "2s",
        webhook: { service: { name } },
      };
      const fn = object(ReconcileFunction, name, spec, namespace);
      const probe = { ...object(Probe, name, { n: 1 }), metadata: { name, namespace, labels } };
      await at.apply([fn, probe], { as });
      await at.permitted(namespace, name, as);
      return at.until(`the gateway has tried ${name}`, async () =>
        readyOf(await at.admin.get(refOf(Probe), objectKey({ namespace, name }))),
      );
    };
    const called: string[] = [];
    for (const name of ["by-hand", "empty", "renamed"]) {
      const { reason, message } = await outcome(name);
      if (reason !== "NoTarget" || !/has no selector|is an ExternalName/.test(message))
        called.push(`${name}: ${reason}, ${message}`);
    }
    const control = await outcome("selecting");
    if (!control.message.includes("which a Service cannot have"))
      throw new Error(`A Service with a selector is not called either: ${control.message}`);
    return outcomeOf(called, `refused; one with a selector is looked at further: ${control.message}`);
  },
};
