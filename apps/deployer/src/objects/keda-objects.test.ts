import { ReconcileFunction, RetryAfterError } from "@drover/controller";
import { expect, it } from "vitest";
import { kedaObjects } from "./keda-objects.ts";
import { cupSpec, functionRef } from "../testing/cups.ts";

const reached = { scalingUrl: "http://deployer.drover:8080" };
const objectsOf = (
  scaling: object = {},
  wanted = true,
  { scalingUrl }: { readonly scalingUrl?: string } = reached,
) =>
  kedaObjects(
    functionRef,
    cupSpec({ container: { image: "i" }, scaling: { by: "KEDA", ...scaling } }),
    { scalingUrl },
    wanted,
  );
const specOf = (kind: string, ...of: Parameters<typeof objectsOf>) =>
  objectsOf(...of).find(({ ref }) => ref.kind === kind)?.object["spec"];

it.each([
  ["90s", 90, 90],
  ["1500ms", 2, 2],
  ["10ms", 1, 1],
  // The HorizontalPodAutoscaler's limit.
  ["2h", 7_200, 3_600],
])("KEDA scales between the limits of the spec, and to fewer after %s", (idleAfter, cooldownPeriod, span) => {
  expect(specOf("ScaledObject", { min: 2, max: 7, idleAfter })).toMatchObject({
    minReplicaCount: 2,
    maxReplicaCount: 7,
    cooldownPeriod,
    advanced: {
      horizontalPodAutoscalerConfig: { behavior: { scaleDown: { stabilizationWindowSeconds: span } } },
    },
    scaleTargetRef: { apiVersion: ReconcileFunction.apiVersion, kind: "ReconcileFunction", name: "cups" },
    triggers: [
      {
        type: "metrics-api",
        metricType: "AverageValue",
        authenticationRef: { name: "cups-scaling" },
        metadata: {
          url: "http://deployer.drover:8080/scaling/tea/cups",
          valueLocation: "wanted",
          authMode: "bearer",
          targetValue: "1",
          activationTargetValue: "0",
        },
      },
    ],
  });
});

it("the token that KEDA reads is of an account that may read this figure alone", () => {
  expect(specOf("TriggerAuthentication")).toEqual({
    secretTargetRef: [{ parameter: "token", name: "cups-scaling", key: "token" }],
  });
  expect(objectsOf().find(({ ref }) => ref.kind === "Secret")?.object).toMatchObject({
    metadata: {
      name: "cups-scaling",
      namespace: "tea",
      annotations: { "kubernetes.io/service-account.name": "cups-scaling" },
    },
    type: "kubernetes.io/service-account-token",
  });
  const of = (kind: string, field: string) =>
    objectsOf().flatMap(({ ref, object }) =>
      ref.kind === kind ? [[object.metadata.name, object[field]]] : [],
    );
  expect(of("Role", "rules")).toEqual([
    [
      "cups-scaling",
      [
        {
          apiGroups: ["drover.dev"],
          resources: ["reconcilefunctions/scale"],
          resourceNames: ["cups"],
          verbs: ["get"],
        },
      ],
    ],
  ]);
  expect(of("RoleBinding", "subjects")).toEqual([
    ["cups-scaling", [{ kind: "ServiceAccount", namespace: "tea", name: "cups-scaling" }]],
  ]);
  expect(objectsOf().flatMap(({ reviewed }) => reviewed ?? [])).toEqual([false, false]);
});

it("where KEDA does not scale it any more, none of them is wanted, wherever the deployer is reached", () => {
  expect(objectsOf({}, false, {}).map(({ wanted }) => wanted)).toEqual(Array(6).fill(false));
  expect(objectsOf().every(({ wanted }) => wanted)).toBe(true);
});

it("is refused where the URL by which KEDA reaches the deployer is not set", () => {
  expect(() => objectsOf({}, true, {})).toThrow(RetryAfterError);
});
