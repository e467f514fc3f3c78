// Pods that are bound to a node, Services that get an address, and events in both of their groups.
import type { JsonObject } from "../../src/json.ts";
import { pod, podsIn, service, servicesIn } from "../fixtures.ts";
import { caseOf, del, get, named, object, patch, post, put } from "../steps.ts";
import type { Case, Step } from "../steps.ts";

const bind = (name: string, more: JsonObject = {}, metadata: JsonObject = {}): Step =>
  post(
    `${podsIn}/a/binding`,
    object("v1", "Binding", name, { target: { kind: "Node", name: "n1" }, ...more }, metadata),
  );

const newer = "/apis/events.k8s.io/v1/namespaces/<ns>/events";
const older = "/api/v1/namespaces/<ns>/events";
const about = (name: string): JsonObject => ({ kind: "Pod", namespace: "<ns>", name, uid: `uid-of-${name}` });

export const podsAndServices: readonly Case[] = [
  caseOf(
    "a binding: none, of another pod, to no node, the first, and one more",
    bind("a"),
    post(podsIn, pod("a")),
    bind("a", {}, { uid: "00000000-0000-0000-0000-000000000000" }),
    bind("another"),
    bind("a", { target: {} }),
    bind("a", { target: { kind: "Pod", name: "n1" } }),
    named("unbound", get(`${podsIn}/a`)),
    put(
      `${podsIn}/a`,
      pod("a", { nodeName: "n1" }, { resourceVersion: "<unbound.metadata.resourceVersion>" }),
    ),
    bind("a"),
    get(`${podsIn}/a`),
    bind("a"),
  ),
  caseOf(
    "a binding of a pod that is being deleted",
    post(podsIn, pod("a", {}, { finalizers: ["e.x/a"] })),
    del(`${podsIn}/a`),
    bind("a"),
  ),
  caseOf(
    "addresses of Services",
    ...["a", "b", "c"].map((name) => post(servicesIn, service(name))),
    post(servicesIn, service("none", { clusterIP: "None" })),
    post(servicesIn, service("external", { type: "ExternalName", externalName: "example.com" })),
    put(`${servicesIn}/a`, service("a")),
    put(`${servicesIn}/a`, service("a", { clusterIP: "127.1.8.8" })),
    patch(`${servicesIn}/b`, { metadata: { labels: { a: "b" } } }),
    get(servicesIn),
  ),
  caseOf(
    "events are the same objects in both of their groups",
    post(
      newer,
      object("events.k8s.io/v1", "Event", "a", {
        regarding: about("p"),
        type: "Normal",
        reason: "Made",
        action: "Make",
        note: "hello",
        reportingController: "e.x/c",
        reportingInstance: "c-1",
        eventTime: "2030-01-01T00:00:00.000000Z",
      }),
    ),
    get(`${older}/a`),
    patch(`${older}/a`, { count: 2 }),
    get(`${newer}/a`),
    post(older, object("v1", "Event", "b", { involvedObject: about("q"), reason: "Made", message: "m" })),
    get(`${newer}/b`),
    ...[
      "involvedObject.name=p,involvedObject.uid=uid-of-p,reason=Made",
      "involvedObject.kind=Pod,type=Normal",
    ].map((selector) => get(`${older}?fieldSelector=${encodeURIComponent(selector)}`)),
    get(`${newer}?fieldSelector=reason%3DMade`),
  ),
];
