import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineController } from "../definition/controller.ts";
import type { DeployableFunction } from "./deployable-function.ts";
import { embeddedManifestsOf } from "./embedded-manifests.ts";
import type { FunctionDeployment } from "./reconcile-function-of.ts";
import { container, Cup, reconcile, saucers } from "./cups.fixture.ts";

const cups = defineController({ for: Cup, reconcile, owns: [{ kind: saucers }] });

type Made = Readonly<Record<string, unknown>> & { readonly kind: string };
const made = (definition: DeployableFunction<typeof Cup>) =>
  new Map((embeddedManifestsOf(definition) as readonly Made[]).map((one) => [one.kind, one]));

describe("a function with a bridge in its process", () => {
  it("is a Deployment with the permissions of the function and of a bridge for its kinds", () => {
    const all = made({ controller: cups, namespace: "tea", deployment: { container } });
    expect([...all.keys()]).toEqual(["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Deployment"]);
    expect(all.get("ClusterRole")).toMatchObject({
      metadata: { name: "drover:tea:cups.example.com" },
      rules: [
        { resources: ["cups"], verbs: ["get"] },
        { resources: ["cups/status"], verbs: ["update"] },
        { resources: ["cups/finalizers"], verbs: ["update"] },
        { resources: ["events"], verbs: ["create", "patch"] },
        { resources: ["saucers"], verbs: ["get", "list", "create", "update", "patch", "delete"] },
        { resources: ["cups"], verbs: ["list", "watch"] },
        { resources: ["saucers"], verbs: ["list", "watch"] },
      ],
    });
    expect(all.get("Deployment")).toMatchObject({
      metadata: { name: "cups-example-com", namespace: "tea" },
      spec: { replicas: 1, template: { spec: { containers: [{ image: "cups:1" }] } } },
    });
  });

  it("has permissions only in its own namespace if all its objects are there", () => {
    const only = { namespaces: ["tea"] };
    const local = defineController({ for: Cup, only, reconcile });
    const all = made({ controller: local, namespace: "tea", deployment: { container } });
    expect([...all.keys()]).toEqual(["ServiceAccount", "Role", "RoleBinding", "Deployment"]);
  });

  it("has the settings, variables and replicas of the deployment", () => {
    const env = [{ name: "CUPS_COLOUR", value: "blue" }];
    const deployment = { container: { ...container, env }, concurrency: 3, scaling: { min: 2 } };
    const spec = made({ controller: cups, deployment }).get("Deployment")?.["spec"];
    expect(spec).toMatchObject({ replicas: 2 });
    expect(JSON.stringify(spec)).toContain('{"name":"DROVER_CONCURRENCY","value":"3"},{"name":"CUPS_COLOUR"');
  });

  it("has a replica even if it may scale to zero: no deployer would start one", () => {
    const deployment = { container, scaling: { min: 0 } };
    expect(made({ controller: cups, deployment }).get("Deployment")?.["spec"]).toMatchObject({ replicas: 1 });
  });

  it("has a grace period for its longest run, by the deployment or the controller", () => {
    const slow = defineController({ for: Cup, reconcile, timeout: "5m" });
    const grace = (timeout?: string) => {
      const deployment = { container, ...(timeout !== undefined && { timeout }) };
      const spec = made({ controller: slow, deployment }).get("Deployment")?.["spec"];
      const { template } = z
        .object({
          template: z.object({
            spec: z.object({
              terminationGracePeriodSeconds: z.number(),
              containers: z.array(z.looseObject({})),
            }),
          }),
        })
        .parse(spec);
      const { terminationGracePeriodSeconds: seconds, containers } = template.spec;
      expect(containers[0]?.["env"]).toContainEqual({
        name: "DROVER_STOP_GRACE",
        value: `${(seconds - 10) * 1_000}ms`,
      });
      return seconds;
    };
    expect(grace()).toBe(320);
    expect(grace("30s")).toBe(50);
  });

  it.each<[FunctionDeployment, RegExp]>([
    [{}, /deployment\.container: name the image/],
    [{ container, paused: true }, /deployment\.paused: a bridge in a function's process does not/],
    [{ container, delivery: "webhook" }, /deployment\.delivery: only a function that pulls/],
    [
      { container: { ...container, env: [{ name: "DROVER_REDIS_URL", value: "redis://own" }] } },
      /deployment\.container\.env: DROVER_REDIS_URL is set by Drover\. Leave it out\./,
    ],
  ])("is refused with advice for %j", (deployment, problem) => {
    expect(() => embeddedManifestsOf({ controller: cups, deployment })).toThrow(problem);
  });
});
