import { accessWords, followedAccess, ReconcileFunction } from "@drover/controller";
import { expect, it } from "vitest";
import { bridgeRole } from "./bridge-role.ts";

const kind = (group: string, name: string) => ({
  ...{ group, version: "v1", kind: name, plural: `${name.toLowerCase()}s`, scope: "Namespaced" },
});
const spec = ReconcileFunction.spec.parse({
  for: { ...kind("example.com", "Cup"), namespaces: ["tea", "coffee"] },
  owns: [kind("", "Secret")],
  watches: [{ ...kind("example.com", "Saucer"), names: { label: "example.com/cup" } }],
});

it("the bridge may list and watch each kind, group by group, in all namespaces", () => {
  const { object } = bridgeRole({ namespace: "tea", name: "cups", uid: "1" }, spec);
  expect(object.metadata.name).toBe("drover-bridge:tea:cups");
  expect(object["rules"]).toEqual([
    { apiGroups: ["example.com"], resources: ["cups", "saucers"], verbs: ["list", "watch"] },
    { apiGroups: [""], resources: ["secrets"], verbs: ["list", "watch"] },
  ]);
});

it("whoever asks for it must be allowed the same, where the function looks", () => {
  expect(followedAccess(spec).map(accessWords)).toEqual([
    "list cups of example.com in namespace tea",
    "watch cups of example.com in namespace tea",
    "list cups of example.com in namespace coffee",
    "watch cups of example.com in namespace coffee",
    "list secrets in all namespaces",
    "watch secrets in all namespaces",
    "list saucers of example.com in all namespaces",
    "watch saucers of example.com in all namespaces",
  ]);
});
