import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineController } from "../definition/controller.ts";
import { defineFunction, functionManifestOf } from "./deployable-function.ts";
import { leastPermissions } from "../access/least-permissions.ts";
import { foreignResource } from "../resource/resource.ts";
import { ClusterCup, container, Cup, reconcile, saucers } from "./cups.fixture.ts";

const cups = defineController({ for: Cup, reconcile, resyncEvery: "90s", retry: { attempts: 5 } });

describe("the ReconcileFunction of a function", () => {
  it("has the settings of the controller, unless the deployment overrides them", () => {
    const deployment = { container, concurrency: 2, retry: { first: "1s" } };
    expect(functionManifestOf(defineFunction({ controller: cups, deployment })).spec).toMatchObject({
      resyncEvery: "90s",
      timeout: "1m",
      concurrency: 2,
      retry: { first: "1s" },
    });
    expect(functionManifestOf({ controller: cups }).spec).toMatchObject({
      concurrency: 8,
      retry: { first: "500ms", longest: "5m", attempts: 5 },
    });
  });

  it("has the namespace of the definition", () => {
    expect(functionManifestOf({ controller: cups, namespace: "tea" }).metadata.namespace).toBe("tea");
    expect(functionManifestOf({ controller: cups }).metadata).toEqual({ name: "cups.example.com" });
  });

  it("adds the author's permissions to the derived ones, each once", () => {
    const pods = { apiGroups: [""], resources: ["pods"], verbs: ["list"] };
    const status = { apiGroups: ["example.com"], resources: ["cups/status"], verbs: ["update"] };
    const deployment = { container, permissions: { cluster: [status, pods] } };
    const { cluster } = functionManifestOf({ controller: cups, deployment }).spec.permissions ?? {};
    expect(cluster?.map(({ resources }) => resources.join())).toEqual([
      ...["cups", "cups/status", "events", "pods"],
    ]);
  });

  it("has no permissions without a container, or if the gateway calls it", () => {
    expect(functionManifestOf({ controller: cups }).spec.permissions).toBeUndefined();
    const webhook = { container, delivery: "webhook" } as const;
    expect(functionManifestOf({ controller: cups, deployment: webhook }).spec.permissions).toBeUndefined();
  });
});

describe("the least permissions", () => {
  it("have patch only with a finalizer", () => {
    const verbs = (controller: typeof cups) => leastPermissions(controller).cluster?.[0]?.verbs;
    expect(verbs(cups)).toEqual(["get"]);
    const finalize = () => Promise.resolve();
    expect(verbs(defineController({ for: Cup, reconcile, finalize }))).toEqual(["get", "patch"]);
  });

  it("have no status of a foreign kind", () => {
    const pods = foreignResource({
      group: "",
      version: "v1",
      kind: "Pod",
      scope: "Namespaced",
      spec: z.object({}),
      status: z.object({}),
    });
    const { cluster } = leastPermissions(defineController({ for: pods, reconcile, name: "pods" }));
    expect(cluster?.map(({ resources }) => resources.join())).toEqual(["pods", "events"]);
  });

  it("have Secrets only if the function declares them, and only those with its names", () => {
    const secrets = (readsSecrets: boolean | string[]) =>
      leastPermissions(cups, { readsSecrets }).cluster?.filter(({ resources }) => resources[0] === "secrets");
    expect(secrets(false)).toEqual([]);
    expect(secrets([])).toEqual([]);
    expect(secrets(true)).toEqual([{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }]);
    expect(secrets(["a"])?.[0]?.resourceNames).toEqual(["a"]);
  });

  it("have every verb for owned kinds, in the namespace of the objects if that is the function's", () => {
    const owning = (namespaces: string[] | undefined, scope: "Namespaced" | "Cluster", own?: string[]) => {
      const owns = [{ kind: { ...saucers, group: "tea", scope }, ...(own && { namespaces: own }) }];
      const only = namespaces === undefined ? {} : { namespaces };
      const found = leastPermissions(defineController({ for: Cup, only, owns, reconcile }), {
        namespace: "tea",
      });
      return (["namespace", "cluster"] as const).filter((place) =>
        found[place]?.some(({ apiGroups, resources, verbs }) => {
          if (apiGroups[0] !== "tea" || resources[0] !== "saucers") return false;
          expect(verbs).toEqual(["get", "list", "create", "update", "patch", "delete"]);
          return true;
        }),
      );
    };
    expect(owning(undefined, "Namespaced")).toEqual(["cluster"]);
    expect(owning(["tea"], "Namespaced")).toEqual(["namespace"]);
    expect(owning(["tea"], "Cluster")).toEqual(["cluster"]);
    expect(owning(["tea", "coffee"], "Namespaced")).toEqual(["cluster"]);
    expect(owning(undefined, "Namespaced", ["tea"])).toEqual(["namespace"]);
    expect(owning(undefined, "Namespaced", ["coffee"])).toEqual(["cluster"]);
  });

  it("are for all namespaces if children may be there, and read related objects as they are found", () => {
    const rules = (namespaces: string[] | undefined, acrossNamespaces: boolean) => {
      const kind = { ...saucers, group: "tea" };
      const owns = [{ kind, acrossNamespaces, ...(namespaces && { namespaces }) }];
      const only = { namespaces: ["tea"] };
      const { cluster } = leastPermissions(defineController({ for: Cup, only, owns, reconcile }), {
        namespace: "tea",
      });
      return cluster?.map(({ resources }) => resources.join());
    };
    expect(rules(undefined, false)).toBeUndefined();
    expect(rules(undefined, true)).toEqual(["saucers"]);
    expect(rules(["tea"], true)).toBeUndefined();
    const related = (names: object) => {
      const watches = [{ kind: saucers, names, related: true } as const];
      const { namespace } = leastPermissions(
        defineController({ for: Cup, only: { namespaces: ["tea"] }, watches, reconcile }),
        { namespace: "tea" },
      );
      return namespace?.find(({ resources }) => resources[0] === "saucers")?.verbs;
    };
    expect(related({ referencedBy: "spec.saucer" })).toEqual(["get"]);
    expect(related(() => ["a"])).toEqual(["get"]);
    expect(related({ selectedBy: "spec.selector" })).toEqual(["list"]);
    expect(related({ all: true })).toEqual(["list"]);
  });

  it("are for the function's own namespace if all its objects are there, and for the cluster otherwise", () => {
    const scopes = (namespaces: string[], of = Cup, namespace: string | undefined = "tea") =>
      Object.keys(
        leastPermissions(defineController({ for: of, only: { namespaces }, reconcile }), { namespace }),
      );
    expect(scopes(["tea"])).toEqual(["namespace"]);
    expect(scopes(["tea", "coffee"])).toEqual(["cluster"]);
    expect(scopes(["tea"], Cup, "coffee")).toEqual(["cluster"]);
    expect(scopes(["tea"], ClusterCup)).toEqual(["cluster"]);
    expect(Object.keys(leastPermissions(cups, { namespace: "tea" }))).toEqual(["cluster"]);
  });

  it("have get for kinds that are mapped by code, in the cluster", () => {
    const watched = { kind: saucers, names: () => Promise.resolve([]) };
    const controller = defineController({
      for: Cup,
      only: { namespaces: ["tea"] },
      reconcile,
      watches: [watched, { ...watched, kind: Cup, names: { label: "cup" } }],
    });
    const { cluster } = leastPermissions(controller, { namespace: "tea" });
    expect(cluster).toEqual([{ apiGroups: [""], resources: ["saucers"], verbs: ["get"] }]);
  });
});
