// Server-side apply of built-in kinds, whose lists have keys.
import { objectAt, textAt } from "../../src/json.ts";
import type { JsonObject } from "../../src/json.ts";
import {
  completeContainer as container,
  completeDeployment,
  completeService,
  deploymentsIn,
  servicesIn,
  spec,
} from "../fixtures.ts";
import { apply, caseOf, get, object, patch, post } from "../steps.ts";
import type { Case } from "../steps.ts";
import { text } from "../schemas.ts";
import { at as definitionAt, inHome, served, settled, thing, things, thingsWith } from "../things.ts";

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

const rbac = "rbac.authorization.k8s.io";
const inNamespace = (path: string): string => path.replace("/v1/", "/v1/namespaces/<ns>/");
/** Two configurations, in their path, and what the first manager applies at last if that is not `first`. */
type Configurations = readonly [path: string, first: JsonObject, second: JsonObject, last?: JsonObject];
/** Those of objects of other kinds. */
const others: readonly Configurations[] = [
  [
    inNamespace("/api/v1/secrets"),
    object("v1", "Secret", "a", { stringData: { a: "1" }, type: "Opaque" }),
    object("v1", "Secret", "a", { data: { a: "MQ==", b: "Mg==" } }),
    // A real server changes the manager's time, and so the version, if the same `stringData` is applied in another second.
    object("v1", "Secret", "a", { stringData: { a: "3" }, type: "Opaque" }),
  ],
  [
    inNamespace("/api/v1/serviceaccounts"),
    object("v1", "ServiceAccount", "a", { secrets: [{ name: "s" }], imagePullSecrets: [{ name: "p" }] }),
    object("v1", "ServiceAccount", "a", { secrets: [{ name: "t" }], imagePullSecrets: [{ name: "q" }] }),
  ],
  [
    "/api/v1/namespaces",
    object("v1", "Namespace", "a-<ns>", {}, { labels: { a: "1" } }),
    object("v1", "Namespace", "a-<ns>", {}, { labels: { a: "2", b: "1" } }),
  ],
  [
    inNamespace(`/apis/${rbac}/v1/roles`),
    object(`${rbac}/v1`, "Role", "a", { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] }),
    object(`${rbac}/v1`, "Role", "a", { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }] }),
  ],
  [
    inNamespace(`/apis/${rbac}/v1/rolebindings`),
    object(`${rbac}/v1`, "RoleBinding", "a", {
      roleRef: { apiGroup: rbac, kind: "Role", name: "a" },
      subjects: [{ apiGroup: rbac, kind: "User", name: "u" }],
    }),
    object(`${rbac}/v1`, "RoleBinding", "a", {
      roleRef: { apiGroup: rbac, kind: "Role", name: "a" },
      subjects: [{ apiGroup: rbac, kind: "User", name: "v" }],
    }),
  ],
  [
    inNamespace("/apis/networking.k8s.io/v1/networkpolicies"),
    object("networking.k8s.io/v1", "NetworkPolicy", "a", {
      spec: {
        podSelector: { matchLabels: { a: "1" } },
        policyTypes: ["Ingress"],
        ingress: [{ ports: [{ port: 80, protocol: "TCP" }] }],
      },
    }),
    object("networking.k8s.io/v1", "NetworkPolicy", "a", {
      spec: {
        podSelector: { matchLabels: { b: "1" } },
        policyTypes: ["Ingress"],
        ingress: [{ ports: [{ port: 81, protocol: "TCP" }] }],
      },
    }),
  ],
  [
    inNamespace("/apis/coordination.k8s.io/v1/leases"),
    object("coordination.k8s.io/v1", "Lease", "a", {
      spec: { holderIdentity: "a", leaseDurationSeconds: 1 },
    }),
    object("coordination.k8s.io/v1", "Lease", "a", { spec: { holderIdentity: "b" } }),
  ],
  [
    inNamespace("/api/v1/pods"),
    object("v1", "Pod", "a", { spec: { containers: [container("a")] } }),
    object("v1", "Pod", "a", { spec: { containers: [container("a", { image: "other" })] } }),
  ],
];

export const applyKinds: readonly Case[] = [
  ...others.map(([path, first, second, last = first]) => {
    const [kind, name] = [textAt(first, "kind") ?? "", textAt(first, "metadata", "name") ?? ""];
    const at = `${path}/${name}`;
    return caseOf(
      `two managers of a ${kind}`,
      apply(at, first, "one"),
      apply(at, second, "two"),
      apply(at, second, "two", "force=true"),
      apply(at, last, "one", "force=true"),
      patch(`${at}?fieldManager=three`, { metadata: { labels: { c: "1" } } }),
      apply(at, object(textAt(first, "apiVersion") ?? "", kind, name), "two"),
      get(at),
    );
  }),
  caseOf(
    "a definition",
    apply(definitionAt, things(), "one"),
    settled(),
    served(),
    apply(definitionAt, things(), "two"),
    apply(definitionAt, thingsWith(spec({ size: text })), "two"),
    apply(definitionAt, thingsWith(spec({ size: text })), "two", "force=true&dryRun=All"),
    apply(`${inHome()}/a`, thing("a"), "one"),
    apply(`${inHome()}/a`, thing("a", { size: 2 }), "two"),
  ),
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
