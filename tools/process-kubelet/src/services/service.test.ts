import { expect, it } from "vitest";
import type { KubeObject } from "@drover/kube";
import { portsOf } from "./service.ts";

const service = (spec: object): KubeObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", namespace: "default", uid: "u", resourceVersion: "1" },
  spec,
});
const selector = { app: "web" };

it("listens for TCP ports on loopback with a selector", () => {
  const ports = [{ port: 80 }, { port: 443, targetPort: "https" }, { port: 53, protocol: "UDP" }];
  expect(portsOf(service({ clusterIP: "127.1.0.9", selector, ports }))).toMatchObject([
    { host: "127.1.0.9", port: 80, targetPort: 80, selector },
    { host: "127.1.0.9", port: 443, targetPort: "https" },
  ]);
});

it.each([
  { clusterIP: "None", selector },
  { clusterIP: "10.0.0.1", selector },
  { clusterIP: "127.1.0.9" },
  { type: "ExternalName", externalName: "example.com", selector },
])("does not listen for %j", (spec) =>
  expect(portsOf(service({ ports: [{ port: 80 }], ...spec }))).toEqual([]),
);
