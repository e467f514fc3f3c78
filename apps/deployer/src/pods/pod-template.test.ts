import { expect, it } from "vitest";
import { fingerprintOf, podManifest, type PodTemplateInput } from "./pod-template.ts";
import { templateOf } from "../testing/pod-templates.ts";

const valueOf = (of: PodTemplateInput, variable: string) =>
  podManifest(of, 7).spec.containers[0]?.env.find(({ name }) => name === variable)?.value;

it("gives a Pod the address of Redis, its identity, its settings and its revision", () => {
  const of = templateOf({}, { concurrency: 3, timeout: "2m", retry: { first: "1s" }, scaling: { min: 1 } });
  expect(valueOf(of, "DROVER_REDIS_URL")).toBe("redis://function%3Atea%2Fcups%2F1@redis:6379/2");
  expect(valueOf(of, "DROVER_FUNCTION")).toBe("tea/cups/1");
  expect(valueOf(of, "DROVER_ROLLOUT")).toBe("7");
  expect(valueOf(of, "DROVER_CONCURRENCY")).toBe("3");
  expect(valueOf(of, "DROVER_RETRY_FIRST")).toBe("1s");
  expect(valueOf(of, "DROVER_RESTS")).toBeUndefined();
  expect(valueOf(templateOf({}), "DROVER_RESTS")).toBe("true");
});

it("gives a Pod that goes the time that its longest run may take", () => {
  expect(podManifest(templateOf({}, { timeout: "2m" }), 1).spec.terminationGracePeriodSeconds).toBe(140);
  expect(valueOf(templateOf({}, { timeout: "2m" }), "DROVER_STOP_GRACE")).toBe("130000ms");
});

it("may do nothing on its node, and does not run as root there", () => {
  const { securityContext, containers } = podManifest(templateOf({}), 1).spec;
  expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
  expect(containers[0]?.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
});

it("gets no variables of Services: one called drover-... would look like a misspelt setting", () => {
  expect(podManifest(templateOf({}), 1).spec.enableServiceLinks).toBe(false);
});

it("has another fingerprint for another image or password, and the same one for another number of Pods", () => {
  const first = fingerprintOf(templateOf({}));
  expect(fingerprintOf(templateOf({}, { scaling: { min: 0, max: 9 } }))).toBe(first);
  expect(fingerprintOf(templateOf({ image: "j" }))).not.toBe(first);
  expect(fingerprintOf(templateOf({}, {}, "q"))).not.toBe(first);
});

it("has default resources where its author sets none", () => {
  const resourcesOf = (container: object) =>
    podManifest(templateOf(container), 1).spec.containers[0]?.resources;
  expect(resourcesOf({})).toEqual({
    requests: { cpu: "50m", memory: "96Mi" },
    limits: { memory: "512Mi", "ephemeral-storage": "1Gi" },
  });
  // Not mixed: a limit below a request of ours would be refused.
  expect(resourcesOf({ resources: { limits: { memory: "64Mi" } } })).toEqual({ limits: { memory: "64Mi" } });
});

it("has the CA certificates of Redis where they are set, and other certificates are another revision", () => {
  const { environment, ...rest } = templateOf({});
  const believing = (redisCa: string | undefined) => ({
    ...rest,
    environment: { ...environment, redisCa },
  });
  expect(valueOf(believing("a"), "DROVER_REDIS_CA_FILE")).toBe("/var/run/drover/redis/ca.crt");
  expect(valueOf(believing(undefined), "DROVER_REDIS_CA_FILE")).toBeUndefined();
  expect(fingerprintOf(believing("a"))).not.toBe(fingerprintOf(believing("b")));
});

it("gives a called Pod its audience, and nothing about Redis", () => {
  const called = templateOf({}, { delivery: "webhook" });
  expect(valueOf(called, "DROVER_WEBHOOK_AUDIENCE")).toBe("tea/cups");
  expect(valueOf(called, "DROVER_WEBHOOK_UID")).toBe("1");
  const { containers, automountServiceAccountToken } = podManifest(called, 1).spec;
  expect(JSON.stringify(containers)).not.toMatch(/REDIS|ROLLOUT/);
  expect(automountServiceAccountToken).toBe(false);
});

it("refuses a variable that Drover sets", () => {
  const of = templateOf({ env: [{ name: "DROVER_REDIS_URL", value: "redis://mine" }] });
  expect(() => podManifest(of, 1)).toThrow(/DROVER_REDIS_URL is set by Drover/);
  expect(() => podManifest(templateOf({ env: [{ name: "DROVER_ROLLOUT", value: "9" }] }), 1)).toThrow(
    /DROVER_ROLLOUT/,
  );
});

it.each([
  [
    "pull",
    {},
    { readinessProbe: { httpGet: { path: "/readyz" } }, livenessProbe: { httpGet: { path: "/healthz" } } },
  ],
  [
    "webhook",
    { delivery: "webhook" },
    { readinessProbe: { tcpSocket: { port: "http" } }, livenessProbe: { tcpSocket: { port: "http" } } },
  ],
] as const)(
  "a Pod by %s is looked at as it may be, and has the secret that it needs",
  (delivery, fields, probes) => {
    const { containers, volumes } = podManifest(templateOf({}, fields), 1).spec;
    expect(containers[0]).toMatchObject(probes);
    const secret = delivery === "pull" ? "cups-redis" : "cups-webhook";
    expect(JSON.stringify(volumes)).toContain(`"secretName":"${secret}"`);
  },
);

it("a Pod that is called may ask the API server only where its function has permissions", () => {
  const rule = { apiGroups: [""], resources: ["pods"], verbs: ["get"] };
  const isMounted = (more: object) =>
    podManifest(templateOf({}, { delivery: "webhook", ...more }), 1).spec.automountServiceAccountToken;
  expect([isMounted({}), isMounted({ permissions: { namespace: [rule] } })]).toEqual([false, true]);
});
