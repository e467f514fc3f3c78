import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineController } from "../definition/controller.ts";
import type { DeployableFunction } from "./deployable-function.ts";
import { embeddedManifestsOf } from "./embedded-manifests.ts";
import type { FunctionDeployment } from "./reconcile-function-of.ts";
import { defineResource } from "../resource/resource.ts";

const Cup = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Cup",
  scope: "Namespaced",
  spec: z.object({}),
  status: z.object({}),
});
const reconcile = () => Promise.resolve(undefined);
const saucers = { group: "", version: "v1", kind: "Saucer", plural: "saucers", scope: "Namespaced" } as const;
const cups = defineController({ for: Cup, reconcile, owns: [{ kind: saucers }] });
const container = { image: "cups:1" };

type Made = Readonly<Record<string, unknown>> & { readonly kind: string };
const made = (definition: DeployableFunction<typeof Cup>) =>
  new Map((embeddedManifestsOf(definition) as readonly Made[]).map((one) => [one.kind, one]));

describe("what runs a function with a bridge in its process", () => {
  it("is a Deployment that may do what a function does, and follow what the controller is for and owns", () => {
    const all = made({ controller: cups, namespace: "tea", deployment: { container } });
    expect([...all.keys()]).toEqual(["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Deployment"]);
    expect(all.get("ClusterRole")).toMatchObject({
      metadata: { name: "drover:tea:cups.example.com" },
      rules: [
        { resources: ["cups"], verbs: ["get"] },
        { resources: ["cups/status"], verbs: ["update"] },
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

  it("is granted no more than its own namespace where all its objects are there", () => {
    const only = { namespaces: ["tea"] };
    const local = defineController({ for: Cup, only, reconcile });
    const all = made({ controller: local, namespace: "tea", deployment: { container } });
    expect([...all.keys()]).toEqual(["ServiceAccount", "Role", "RoleBinding", "Deployment"]);
  });

  it("has the pace, the variables and the processes that the deployment says", () => {
    const env = [{ name: "CUPS_COLOUR", value: "blue" }];
    const deployment = { container: { ...container, env }, concurrency: 3, scaling: { min: 2 } };
    const spec = made({ controller: cups, deployment }).get("Deployment")?.["spec"];
    expect(spec).toMatchObject({ replicas: 2 });
    expect(JSON.stringify(spec)).toContain('{"name":"DROVER_CONCURRENCY","value":"3"},{"name":"CUPS_COLOUR"');
  });

  it("has a process also where it may scale to zero: nobody would start one", () => {
    const deployment = { container, scaling: { min: 0 } };
    expect(made({ controller: cups, deployment }).get("Deployment")?.["spec"]).toMatchObject({ replicas: 1 });
  });

  it("has the time to end that its longest run may take, by the deployment or the code", () => {
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
  ])("is refused, with what to do, for %j", (deployment, said) => {
    expect(() => embeddedManifestsOf({ controller: cups, deployment })).toThrow(said);
  });
});
