import type { Child } from "@drover/controller";
import { expect, it } from "vitest";
import type { ChildOf } from "./child-of.ts";

const labels = { app: "web" };
const metadata = { name: "web" };

it("children of Kubernetes' kinds are checked by the compiler, and can be declared", () => {
  const optional: { readonly name: string }[] | undefined = undefined;
  const deployment: ChildOf<"Deployment"> = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata,
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          imagePullSecrets: optional,
          containers: [{ name: "web", image: "web:1", ports: [{ containerPort: 80 }] }],
        },
      },
    },
  };
  const service: ChildOf<"Service"> = {
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: { selector: labels, ports: [{ port: 80, targetPort: "http" }] },
  };
  const page: ChildOf<"ConfigMap"> = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: "b" } };
  const policy: ChildOf<"NetworkPolicy"> = {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata,
    spec: { podSelector: {}, ingress: [{ from: [{ podSelector: { matchLabels: labels } }] }] },
  };
  const children: readonly Child[] = [deployment, service, policy, { object: page, wave: 1 }];
  expect(children).toHaveLength(4);

  // @ts-expect-error a Deployment is of apps/v1
  const another: ChildOf<"Deployment"> = { ...deployment, apiVersion: "v1" };
  // @ts-expect-error the number of replicas is a number
  const texts: ChildOf<"Deployment"> = { ...deployment, spec: { ...deployment.spec!, replicas: "1" } };
  const spec = { containers: [{ image: "a" }] };
  // @ts-expect-error a container has a name
  const pod: ChildOf<"Pod"> = { apiVersion: "v1", kind: "Pod", metadata, spec };
  // @ts-expect-error a Service has no replicas
  const scaled: ChildOf<"Service"> = { apiVersion: "v1", kind: "Service", metadata, spec: { replicas: 1 } };
  // @ts-expect-error Drover does not write the status of children
  const stated: ChildOf<"Service"> = { apiVersion: "v1", kind: "Service", metadata, status: {} };
  expect([another, texts, pod, scaled, stated]).toHaveLength(5);
});
