import { observedObjects, type RelatedKind } from "@drover/controller";
import { builtin, kindOf, type KubeObject } from "@drover/kube";
import { expect, it } from "vitest";
import { contextOf, greetings, runOf } from "../calling.fixture.ts";
import { customizeRequest, syncRequest } from "./hook-request.ts";
import { type MetacontrollerHooks, metacontrollerHooks } from "./hooks.ts";

const owns = [builtin.configMap, builtin.deployment, builtin.secret].map((ref) => ({ kind: kindOf(ref) }));
const fn = { ...greetings, owns };
const hooks = (more: Partial<MetacontrollerHooks> = {}): MetacontrollerHooks => ({
  ...metacontrollerHooks({
    controller: "Composite",
    sync: "/sync",
    updates: [{ group: "apps", kind: "Deployment", method: "InPlace" }],
  }),
  ...more,
});
const objectOf = (apiVersion: string, kind: string, name: string, more: object = {}): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: "web", uid: name, resourceVersion: "1", managedFields: [] },
  ...more,
});
const observedOf = (children: readonly KubeObject[], related: readonly KubeObject[] = []) => ({
  children: observedObjects(children, "web"),
  related: observedObjects(related, "web"),
});
const related: readonly RelatedKind[] = [
  { kind: kindOf(builtin.secret), names: { all: true }, related: true },
  { kind: kindOf(builtin.service), names: { all: true }, related: true },
];
const deployment = objectOf("apps/v1", "Deployment", "a", { spec: { replicas: 1 } });
const password = objectOf("v1", "Secret", "words", { data: { WORD: "aHVzaA==" } });
const context = contextOf(runOf());

/** Written down from a request of Metacontroller 4.17.2, with what hooks can use. */
it("is the request of Metacontroller for a sync hook", () => {
  const request = syncRequest(
    { fn, hooks: hooks(), context, related },
    observedOf([deployment], [password]),
    false,
  );
  expect(request).toEqual({
    controller: {
      apiVersion: "metacontroller.k8s.io/v1alpha1",
      kind: "CompositeController",
      metadata: { name: "greetings" },
      spec: {
        parentResource: { apiVersion: "example.com/v1", resource: "greetings" },
        childResources: [
          { apiVersion: "v1", resource: "configmaps", updateStrategy: { method: "OnDelete" } },
          { apiVersion: "apps/v1", resource: "deployments", updateStrategy: { method: "InPlace" } },
          { apiVersion: "v1", resource: "secrets", updateStrategy: { method: "OnDelete" } },
        ],
      },
    },
    parent: expect.objectContaining({ kind: "Greeting", spec: { name: "Ada" } }) as object,
    children: {
      "ConfigMap.v1": {},
      "Deployment.apps/v1": {
        a: {
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { name: "a", namespace: "web", uid: "a", resourceVersion: "1" },
          spec: { replicas: 1 },
        },
      },
      "Secret.v1": {},
    },
    related: {
      "Secret.v1": { words: expect.objectContaining({ data: { WORD: "aHVzaA==" } }) as object },
      "Service.v1": {},
    },
    finalizing: false,
  });
});

it("has no content of Secrets that are children", () => {
  const request = syncRequest({ fn, hooks: hooks(), context, related }, observedOf([password]), false);
  expect(JSON.stringify(request)).not.toContain("aHVzaA==");
  expect(request).toMatchObject({ children: { "Secret.v1": { words: { metadata: { uid: "words" } } } } });
});

it("is the request for a finalize hook", () => {
  const request = syncRequest({ fn, hooks: hooks(), context, related: [] }, observedOf([]), true);
  expect(request).toMatchObject({ finalizing: true, related: {} });
});

it.each<[string, MetacontrollerHooks["version"], string | undefined, string]>([
  ["the name, beside the parent", "v1", "web", "a"],
  ["namespace and name, for a cluster-scoped parent", "v1", undefined, "web/a"],
  ["namespace and name, in version 2", "v2", "web", "web/a"],
])("names a child by %s", (_, version, namespace, name) => {
  const { namespace: __, ...metadata } = context.metadata;
  const parent = {
    ...context.object,
    metadata: { ...metadata, ...(namespace !== undefined && { namespace }) },
  };
  const subject = { fn, hooks: hooks({ version }), context: { object: parent }, related: [] };
  expect(syncRequest(subject, observedOf([deployment]), false)).toMatchObject({
    children: { "Deployment.apps/v1": { [name]: { metadata: { uid: "a" } } } },
  });
});

it("is the request for a DecoratorController", () => {
  const subject = { fn, hooks: hooks({ controller: "Decorator" }), context, related: [] };
  const request = syncRequest(subject, observedOf([deployment]), false);
  expect(request).toMatchObject({
    controller: {
      kind: "DecoratorController",
      spec: {
        resources: [{ apiVersion: "example.com/v1", resource: "greetings" }],
        attachments: [{}, {}, {}],
      },
    },
    object: { kind: "Greeting" },
    attachments: { "Deployment.apps/v1": { a: {} } },
  });
  expect(request).not.toHaveProperty("parent");
  expect(request).not.toHaveProperty("children");
});

it("is the request for a customize hook", () => {
  expect(customizeRequest({ fn, hooks: hooks(), context })).toEqual({
    controller: expect.objectContaining({ kind: "CompositeController" }) as object,
    parent: expect.objectContaining({ kind: "Greeting" }) as object,
  });
});
