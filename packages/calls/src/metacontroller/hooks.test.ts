import { expect, it } from "vitest";
import { metacontrollerHooks, takesOverOf } from "./hooks.ts";

const attachedBy = (decorator?: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name: "a",
    uid: "u",
    resourceVersion: "1",
    ...(decorator !== undefined && {
      annotations: { "metacontroller.k8s.io/decorator-controller": decorator },
    }),
  },
});

it.each([
  ["Composite", undefined, true],
  ["Composite", "sites", false],
  ["Decorator", "sites", true],
  ["Decorator", "others", false],
  ["Decorator", undefined, false],
] as const)("a %s controller takes over what %s has attached: %s", (controller, decorator, takes) => {
  const hooks = metacontrollerHooks({ controller, sync: "/sync", takeOver: true });
  expect(takesOverOf(hooks, "sites")?.(attachedBy(decorator))).toBe(takes);
});

it("takes over nothing unless it is declared", () => {
  expect(
    takesOverOf(metacontrollerHooks({ controller: "Composite", sync: "/sync" }), "sites"),
  ).toBeUndefined();
});
