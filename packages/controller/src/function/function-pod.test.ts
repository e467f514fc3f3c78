import { expect, it } from "vitest";
import { serviceNameOf } from "./function-names.ts";
import {
  type FunctionPodOptions,
  functionPodSpec,
  stopGraceOf,
  metricsVariables,
  serverVariables,
  duplicateVariable,
} from "./function-pod.ts";
import { runSettingsVariables } from "./run-settings-variables.ts";

const pod = (more: Partial<FunctionPodOptions["container"]> = {}, grace = 60_000) =>
  functionPodSpec({
    serviceAccountName: "cups",
    ownLabels: { of: "cups" },
    env: [],
    grace,
    probes: { readiness: {}, liveness: {} },
    container: { image: "cups:1", ...more },
    secrets: [{ name: "shared", secretName: "cups-webhook", mountPath: "/etc/drover" }],
  });

it("Pods are placed as their container says, and are spread among those of their function", () => {
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [] } };
  const constraint = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" as const };
  const labelSelector = { matchLabels: { tier: "a" } };
  const topologySpreadConstraints = [constraint, { ...constraint, labelSelector }];
  expect(pod({ affinity, priorityClassName: "high", topologySpreadConstraints })).toMatchObject({
    affinity,
    priorityClassName: "high",
    topologySpreadConstraints: [
      { ...constraint, labelSelector: { matchLabels: { of: "cups" } } },
      { ...constraint, labelSelector },
    ],
  });
});

it("scheduling and resources of a container are in its Pod", () => {
  const resources = { limits: { memory: "1Gi" } };
  const nodeSelector = { disk: "ssd" };
  const tolerations = [{ key: "gpu", operator: "Exists" as const }];
  const imagePullSecrets = [{ name: "registry" }];
  const { containers, ...spec } = pod({
    resources,
    nodeSelector,
    tolerations,
    imagePullSecrets,
    port: 9_000,
    imagePullPolicy: "Always",
    command: ["run"],
    args: ["-v"],
  });
  expect(spec).toMatchObject({ serviceAccountName: "cups", nodeSelector, tolerations, imagePullSecrets });
  expect(containers[0]).toMatchObject({
    image: "cups:1",
    imagePullPolicy: "Always",
    command: ["run"],
    args: ["-v"],
    resources,
    ports: [{ containerPort: 9_000 }],
  });
  expect(pod().containers[0]).toMatchObject({
    resources: { requests: { cpu: "50m", memory: "96Mi" }, limits: { memory: "512Mi" } },
    ports: [{ containerPort: 8_080 }],
  });
});

it("only an emptyDir is mounted writable", () => {
  const { containers, volumes } = pod({
    volumes: [
      { name: "s", mountPath: "/s", secret: { secretName: "a" } },
      { name: "c", mountPath: "/c", configMap: { name: "b" } },
      { name: "e", mountPath: "/e", emptyDir: { sizeLimit: "1Gi" } },
    ],
  });
  expect(containers[0]?.volumeMounts).toEqual([
    { name: "shared", mountPath: "/etc/drover", readOnly: true },
    { name: "s", mountPath: "/s", readOnly: true },
    { name: "c", mountPath: "/c", readOnly: true },
    { name: "e", mountPath: "/e", readOnly: false },
  ]);
  expect(volumes).toEqual([
    { name: "shared", secret: { secretName: "cups-webhook", defaultMode: 0o440 } },
    { name: "s", secret: { secretName: "a" } },
    { name: "c", configMap: { name: "b" } },
    { name: "e", emptyDir: { sizeLimit: "1Gi" } },
  ]);
});

it("the grace period of a Pod is longer than that of its process, which is longer than a run", () => {
  expect(stopGraceOf(60_000)).toBe(70_000);
  expect(serverVariables({}, 70_000)).toContainEqual({ name: "DROVER_STOP_GRACE", value: "70000ms" });
  expect(pod({}, 70_000).terminationGracePeriodSeconds).toBe(80);
  expect(pod({}, 70_001).terminationGracePeriodSeconds).toBe(81);
});

it("metrics need no token in a Pod, unless the function requires one", () => {
  expect(metricsVariables([{ name: "COLOUR" }])).toEqual([{ name: "DROVER_METRICS_AUTH", value: "none" }]);
  expect(metricsVariables([{ name: "DROVER_METRICS_AUTH" }])).toEqual([]);
});

it("a variable that Drover also sets is found", () => {
  const ours = [{ name: "A" }, { name: "B" }];
  expect(duplicateVariable([{ name: "C" }, { name: "B" }], ours)).toBe("B");
  expect(duplicateVariable([{ name: "C" }], ours)).toBeUndefined();
});

it("a process has a variable for each setting in the spec", () => {
  expect(runSettingsVariables({})).toEqual([]);
  const retry = { first: "1s", longest: "2m", attempts: 4 };
  const limits = { runs: { perSecond: 0.5, burst: 9 } };
  const variables = runSettingsVariables({
    concurrency: 3,
    resyncEvery: "1h",
    timeout: "30s",
    retry,
    limits,
  });
  expect(Object.fromEntries(variables.map(({ name, value }) => [name, value]))).toEqual({
    DROVER_CONCURRENCY: "3",
    DROVER_RESYNC_EVERY: "1h",
    DROVER_TIMEOUT: "30s",
    DROVER_RETRY_FIRST: "1s",
    DROVER_RETRY_LONGEST: "2m",
    DROVER_RETRY_ATTEMPTS: "4",
    DROVER_RUNS_PER_SECOND: "0.5",
    DROVER_RUNS_BURST: "9",
  });
});

it.each([
  ["cups.example.com", "cups-example-com"],
  ["7cups.example.com", "f-7cups-example-com"],
  [`9${"a".repeat(62)}`, `f-9${"a".repeat(60)}`],
  ["a".repeat(63), "a".repeat(63)],
])("the Service of the controller %s is a DNS label that begins with a letter: %s", (controller, service) => {
  expect(serviceNameOf(controller)).toBe(service);
  expect(service).toMatch(/^[a-z][-a-z0-9]{0,62}$/);
});
