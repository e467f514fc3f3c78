// Server-side apply of built-in kinds, whose lists have keys.
import { objectAt } from "../../src/json.ts";
import type { JsonObject } from "../../src/json.ts";
import {
  completeContainer as container,
  completeDeployment,
  completeService,
  deploymentsIn,
  servicesIn,
} from "../fixtures.ts";
import { apply, caseOf, get, object, patch, post } from "../steps.ts";
import type { Case } from "../steps.ts";

const web = { name: "web", port: 80, protocol: "TCP", targetPort: 80 };
const dns = { name: "dns", port: 53, protocol: "UDP", targetPort: 53 };
const tcp = { name: "dns-tcp", port: 53, protocol: "TCP", targetPort: 53 };
const bare = (spec: JsonObject): JsonObject => object("v1", "Service", "a", { spec });
const service = `${servicesIn}/a`;

const pods = (containers: readonly JsonObject[], more: JsonObject = {}): JsonObject =>
  objectAt(completeDeployment(containers, more), "spec", "template");
const deployment = (spec: JsonObject): JsonObject => object("apps/v1", "Deployment", "a", { spec });
const selector = { matchLabels: { app: "a" } };
const port = (containerPort: number, protocol = "TCP"): JsonObject => ({ containerPort, protocol });

export const applyKinds: readonly Case[] = [
  caseOf(
    "the ports of a Service",
    apply(service, completeService([web]), "one"),
    apply(service, bare({ ports: [{ port: 80 }] }), "two"),
    apply(service, bare({ ports: [dns, tcp] }), "two"),
    apply(service, bare({ ports: [{ ...web, targetPort: 81 }] }), "three"),
    apply(service, bare({ ports: [{ ...web, targetPort: 81 }] }), "three", "force=true"),
    apply(service, bare({ selector: { a: "1" } }), "three"),
    apply(service, bare({ selector: { b: "1" } }), "two"),
    apply(service, bare({ ports: [tcp] }), "two"),
    patch(`${service}?fieldManager=four`, { spec: { selector: { c: "1" } } }),
    get(service),
  ),
  caseOf(
    "a Service that was posted",
    post(`${servicesIn}?fieldManager=maker`, completeService([web, dns], { selector: { a: "1" } })),
    apply(service, bare({ ports: [{ ...web, targetPort: 81 }] }), "one"),
    apply(service, bare({ ports: [tcp] }), "one"),
    patch(`${service}?fieldManager=maker`, { spec: { ports: [web] } }, "strategic-merge-patch"),
    get(service),
  ),
  caseOf(
    "the containers of a Deployment",
    apply(
      `${deploymentsIn}/a`,
      deployment({
        replicas: 1,
        selector,
        template: pods([container("a", { env: [{ name: "X", value: "1" }], ports: [port(80)] })]),
      }),
      "one",
    ),
    apply(
      `${deploymentsIn}/a`,
      deployment({
        template: {
          spec: {
            containers: [container("a", { image: "other" }), container("b", { ports: [port(80, "UDP")] })],
          },
        },
      }),
      "two",
    ),
    apply(
      `${deploymentsIn}/a`,
      deployment({
        replicas: 2,
        template: { spec: { containers: [container("b", { env: [{ name: "X", value: "1" }] })] } },
      }),
      "two",
      "force=true",
    ),
    patch(`${deploymentsIn}/a?fieldManager=scaler`, { spec: { replicas: 5 } }),
    apply(
      `${deploymentsIn}/a`,
      deployment({
        replicas: 1,
        selector,
        template: pods(
          [
            container("a", {
              env: [
                { name: "Y", value: "2" },
                { name: "X", value: "1" },
              ],
              volumeMounts: [{ name: "v", mountPath: "/v" }],
            }),
          ],
          { volumes: [{ name: "v", emptyDir: {} }] },
        ),
      }),
      "one",
    ),
    get(`${deploymentsIn}/a`),
  ),
  caseOf(
    "a Deployment that was posted",
    post(
      `${deploymentsIn}?fieldManager=maker`,
      deployment({
        selector,
        template: pods([container("a", { ports: [port(80)], resources: { limits: { cpu: "1" } } })]),
      }),
    ),
    apply(
      `${deploymentsIn}/a`,
      deployment({
        template: {
          spec: { containers: [{ name: "a", resources: { limits: { cpu: "2", memory: "1Gi" } } }] },
        },
      }),
      "one",
    ),
    apply(`${deploymentsIn}/a`, deployment({ replicas: 3 }), "one", "force=true"),
    get(`${deploymentsIn}/a`),
  ),
];
