import { ReconcileFunction, RetryAfterError } from "@drover/controller";
import { expect, it } from "vitest";
import { kedaObjects } from "./keda-objects.ts";
import { cupSpec, environment, functionRef } from "../testing/cups.ts";

const { account } = environment.keda;
const reached = { scalingUrl: "http://deployer.drover:8080" };
const objectsOf = (
  scaling: object = {},
  wanted = true,
  { scalingUrl }: { readonly scalingUrl?: string } = reached,
) =>
  kedaObjects(
    functionRef,
    cupSpec({ container: { image: "i" }, scaling: { by: "KEDA", ...scaling } }),
    { scalingUrl, account },
    wanted,
  );
const specOf = (kind: string, ...of: Parameters<typeof objectsOf>) =>
  objectsOf(...of).find(({ ref }) => ref.kind === kind)?.object["spec"];

it.each([
  ["90s", 90],
  ["1500ms", 2],
  ["10ms", 1],
])("KEDA scales between the limits of the spec, and to fewer after %s: %i s", (idleAfter, cooldownPeriod) => {
  expect(specOf("ScaledObject", { min: 2, max: 7, idleAfter })).toMatchObject({
    minReplicaCount: 2,
    maxReplicaCount: 7,
    cooldownPeriod,
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

it("the token that KEDA sends is of an account that may read this figure alone, and only KEDA makes such tokens", () => {
  expect(specOf("TriggerAuthentication")).toEqual({
    boundServiceAccountToken: [{ parameter: "token", serviceAccountName: "cups-scaling" }],
  });
  const rights = objectsOf().flatMap(({ ref, object, reviewed }) =>
    ref.kind === "Role" ? [[object.metadata.name, object["rules"], reviewed]] : [],
  );
  const rule = (group: string, resource: string, verb: string, name: string) => [
    { apiGroups: [group], resources: [resource], resourceNames: [name], verbs: [verb] },
  ];
  expect(rights).toEqual([
    ["cups-scaling", rule("drover.dev", "reconcilefunctions/scale", "get", "cups"), false],
    ["cups-scaling-token", rule("", "serviceaccounts/token", "create", "cups-scaling"), false],
  ]);
  const subjects = objectsOf().flatMap(({ ref, object }) =>
    ref.kind === "RoleBinding" ? [[object.metadata.name, object["subjects"]]] : [],
  );
  expect(subjects).toEqual([
    ["cups-scaling", [{ kind: "ServiceAccount", namespace: "tea", name: "cups-scaling" }]],
    ["cups-scaling-token", [{ kind: "ServiceAccount", ...account }]],
  ]);
});

it("where KEDA does not scale it any more, none of them is wanted, wherever the deployer is reached", () => {
  expect(objectsOf({}, false, {}).map(({ wanted }) => wanted)).toEqual(Array(7).fill(false));
  expect(objectsOf().every(({ wanted }) => wanted)).toBe(true);
});

it("is refused where the URL by which KEDA reaches the deployer is not set", () => {
  expect(() => objectsOf({}, true, {})).toThrow(RetryAfterError);
});
