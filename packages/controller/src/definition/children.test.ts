import { expect, it } from "vitest";
import type { KubeObject, ResourceRef } from "../object/object-client.ts";
import { observedObjects } from "./children.ts";

const child = (apiVersion: string, kind: string, name: string, namespace?: string): KubeObject => ({
  apiVersion,
  kind,
  metadata: {
    name,
    ...(namespace !== undefined && { namespace }),
    uid: `uid of ${apiVersion} ${kind} ${name}`,
    resourceVersion: "1",
  },
});
const service: ResourceRef = {
  group: "",
  version: "v1",
  plural: "services",
  kind: "Service",
  namespaced: true,
};
const knative: ResourceRef = { ...service, group: "serving.knative.dev" };

it("a child is found by group, kind, name and the namespace of its parent", () => {
  const all = [
    child("serving.knative.dev/v1", "Service", "a", "web"),
    child("v1", "Service", "a", "other"),
    child("v1", "Secret", "a", "web"),
    child("v1", "Service", "b", "web"),
    child("v1", "Service", "a", "web"),
  ];
  const children = observedObjects(all, "web");
  expect(children.all).toBe(all);
  expect(children.get(service, "a")).toBe(all[4]);
  expect(children.get(knative, "a")).toBe(all[0]);
  expect(children.get(knative, "b")).toBeUndefined();
});
