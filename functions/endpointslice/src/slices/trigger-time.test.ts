import { expect, it } from "vitest";
import { type EndpointSlice, endpointSliceSchema, labelsOf, ownerReferenceTo } from "../endpoint-slice.ts";
import { type EndpointPod, endpointPodSchema } from "../pods/endpoint-pod.ts";
import { serviceSchema } from "../service.ts";
import { triggerTimeOf } from "./trigger-time.ts";

const service = serviceSchema.parse({
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    name: "web",
    namespace: "default",
    uid: "new",
    resourceVersion: "1",
    creationTimestamp: "2026-01-01T00:00:00Z",
  },
  spec: {},
});
const pod = (name: string, second: number, ready = true): EndpointPod =>
  endpointPodSchema.parse({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", uid: name, resourceVersion: "1" },
    spec: {},
    status: {
      conditions: [
        {
          type: "Ready",
          status: ready ? "True" : "False",
          lastTransitionTime: `2026-01-01T00:00:0${second}Z`,
        },
      ],
    },
  });
const endpoint = (name: string, serving = true) => ({
  addresses: ["10.0.0.1"],
  conditions: { ready: serving, serving, terminating: false },
  targetRef: { kind: "Pod", namespace: "default", name, uid: name },
});
const slice = (endpoints: readonly object[], { isOwned = true } = {}): EndpointSlice =>
  endpointSliceSchema.parse({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: "web-1",
      uid: "s",
      resourceVersion: "1",
      labels: labelsOf(service),
      ...(isOwned && { ownerReferences: [ownerReferenceTo(service)] }),
    },
    addressType: "IPv4",
    endpoints,
    ports: [],
  });
const timeOf = (pods: readonly EndpointPod[], slices: readonly EndpointSlice[]) =>
  triggerTimeOf(service, {
    pods,
    wanted: endpointSliceSchema.parse({
      ...slice([]),
      endpoints: pods.map((one) => endpoint(one.metadata.name)),
    }).endpoints,
    slices,
  });

it.each<[string, readonly EndpointPod[], readonly EndpointSlice[], string | undefined]>([
  ["its creation, without slices", [pod("a", 5)], [], "2026-01-01T00:00:00Z"],
  [
    "its creation, with those of an earlier Service",
    [pod("a", 5)],
    [slice([endpoint("x")], { isOwned: false })],
    "2026-01-01T00:00:00Z",
  ],
  ["none, with the placeholder of an earlier Service", [], [slice([], { isOwned: false })], undefined],
  ["none, if no pod has changed", [pod("a", 5)], [slice([endpoint("a")])], undefined],
  ["of an added pod", [pod("a", 5), pod("b", 3)], [slice([endpoint("b")])], "2026-01-01T00:00:05Z"],
  [
    "the first one of pods that became ready or unready",
    [pod("a", 5), pod("b", 3, false)],
    [slice([endpoint("a", false), endpoint("b")])],
    "2026-01-01T00:00:03Z",
  ],
])("the time of a change of a Service is %s", (_which, pods, slices, expected) => {
  expect(timeOf(pods, slices)).toBe(expected);
});
