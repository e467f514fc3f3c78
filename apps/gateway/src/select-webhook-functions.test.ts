import { objectKey, ReconcileFunction } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import { authorAnnotations, declaredFunctions, type PermittedUse, requestedUse } from "@drover/runtime";
import { expect, it } from "vitest";
import { selectWebhookFunctions } from "./select-webhook-functions.ts";

const kind = { group: "example.com", version: "v1", kind: "Site", plural: "sites", scope: "Namespaced" };
/** @param permit what the function was permitted; `undefined` where every author is trusted. */
const of = (spec: object, status: object = {}, permit?: Partial<PermittedUse>) => {
  const key = objectKey({ namespace: "web", name: "my.sites" });
  const metadata = { name: "my.sites", namespace: "web", uid: "u", resourceVersion: "1" };
  const object = {
    apiVersion: "drover.dev/v1alpha1",
    kind: "ReconcileFunction",
    metadata,
    status,
    spec: { for: kind, delivery: "webhook", ...spec },
  };
  const permits = permit && {
    allows: (one: KubeObject, asked: Parameters<typeof requestedUse>[1], use: keyof PermittedUse) =>
      permit[use] === requestedUse(one.metadata, asked)[use],
  };
  const { functions, problems } = selectWebhookFunctions(
    declaredFunctions(new Map([[key, object]])),
    permits,
  );
  return { fn: functions[0], problem: problems.get(key) };
};
const container = { image: "registry.example/sites" };

it.each([
  [true, { ...kind, group: "" }],
  [true, { ...kind, group: "apps" }],
  [true, { ...kind, group: "networking.k8s.io" }],
  [undefined, kind],
  [undefined, { ...kind, group: "k8s.io.example.com" }],
])("leaves the status of Kubernetes' own kinds to their controllers: %s", (foreign, own) =>
  expect(of({ for: own }).fn?.for.foreign).toBe(foreign),
);

it("takes what is declared, and the rest as it is usual", () => {
  expect(of({}).fn).toMatchObject({
    controller: "my.sites",
    namespace: "web",
    uid: "u",
    path: "/",
    finalizes: false,
    copies: false,
    concurrency: 8,
    service: { name: "my-sites", port: 80 },
    scalesToZero: false,
    revision: 0,
  });
  const limits = { runs: { perSecond: 2, burst: 5 } };
  const runSettings = { resyncEvery: "1h", timeout: "5s", retry: { attempts: 4 }, limits };
  const declared = of({
    concurrency: 3,
    ...runSettings,
    scaling: { min: 0 },
    copies: true,
    copiesFor: "1h",
    webhook: { service: { name: "a", port: 81 }, path: "/x", finalizes: true },
  });
  expect(declared.fn).toMatchObject({
    concurrency: 3,
    runSettings,
    scalesToZero: true,
    service: { name: "a", port: 81 },
    path: "/x",
    finalizes: true,
    copies: true,
    copiesFor: "1h",
  });
});

it("declares children, and finalizes, where it has hooks of Metacontroller that do", () => {
  const hooks = { controller: "Composite", sync: "/sync" };
  const composite = (more: object = {}) =>
    of({ owns: [kind], webhook: { metacontroller: { ...hooks, ...more } } }).fn;
  expect(composite()).toMatchObject({
    composes: true,
    finalizes: false,
    owns: [{ kind: { plural: kind.plural } }],
    metacontroller: { controller: "Composite", version: "v1", paths: { sync: "/sync" }, takeOver: false },
  });
  expect(composite()?.for.foreign).toBeUndefined();
  expect(composite({ finalize: "/finalize", version: "v2", takeOver: true })).toMatchObject({
    finalizes: true,
    metacontroller: { version: "v2", paths: { sync: "/sync", finalize: "/finalize" }, takeOver: true },
  });
  // The status of the objects that a DecoratorController decorates is not Drover's.
  expect(composite({ controller: "Decorator" })?.for.foreign).toBe(true);
});

it("is woken by others where it owns or watches kinds, or takes events", () => {
  const verify = { bearer: { secretRef: { name: "s", key: "k" } } };
  const by: readonly (readonly [object, boolean])[] = [
    [{}, false],
    [{ owns: [], watches: [], hooks: [] }, false],
    [{ owns: [kind] }, true],
    [{ watches: [{ ...kind, names: { label: "for" } }] }, true],
    [{ hooks: [{ name: "h", verify, names: { field: "name" } }] }, true],
  ];
  expect(by.map(([spec]) => of(spec).fn?.isWokenByOthers)).toEqual(by.map(([, others]) => others));
});

it("leaves the keys of a function in the queue that has no Pods, or is paused, or pulls", () => {
  expect(of({ container }).fn).toBeUndefined();
  expect(of({ container }, { readyReplicas: 0 }).fn).toBeUndefined();
  expect(of({ container }, { readyReplicas: 3, rollout: { revision: 7, template: "" } }).fn).toMatchObject({
    concurrency: 24,
    revision: 7,
    scalesToZero: true,
  });
  expect(of({ paused: true }).fn).toBeUndefined();
  expect(of({ delivery: "pull" })).toEqual({ fn: undefined, problem: undefined });
});

it("calls a function as it was permitted to its author", () => {
  const key = { namespace: "web" };
  const permitted = (spec: object, author?: string): PermittedUse => {
    const annotations = author === undefined ? {} : { [authorAnnotations.user]: author };
    const parsed = ReconcileFunction.spec.parse({ for: kind, delivery: "webhook", ...spec });
    return requestedUse({ ...key, name: "my.sites", uid: "u", resourceVersion: "1", annotations }, parsed);
  };
  expect(of({}, {}, {}).problem).toMatch(/not permitted it as it is now/);
  expect(of({}, {}, permitted({})).fn).toBeDefined();
  // The same by another author, and the same to another address, is another request.
  expect(of({}, {}, permitted({}, "bob")).fn).toBeUndefined();
  const elsewhere = { webhook: { url: "https://example.com" } };
  expect(of(elsewhere, {}, permitted({})).fn).toBeUndefined();
  expect(of({ paused: false }, {}, permitted({})).fn).toBeDefined();
});

it.each([
  [{ timeout: "0s" }, /timeout is zero/],
  [{ copiesFor: "25h" }, /copiesFor is 25h; at most 24h/],
  [{ resyncEvery: "0s" }, /resyncEvery is zero/],
  [{ retry: { first: "10m", longest: "1m" } }, /retry\.longest \(1m\) is below retry\.first/],
])("reports settings that no controller can have, and calls the other functions: %j", (spec, problem) => {
  expect(of(spec)).toEqual({ fn: undefined, problem: expect.stringMatching(problem) as string });
});

it("sends no Secrets, asks no code, and names the alternative", () => {
  const secrets = { for: { ...kind, group: "", kind: "Secret", plural: "secrets" } };
  expect(of(secrets)).toEqual({
    fn: undefined,
    problem: expect.stringMatching(/Use delivery: pull/) as string,
  });
  const code = { watches: [{ ...kind, names: { code: true } }] };
  expect(of(code)).toEqual({
    fn: undefined,
    problem: expect.stringMatching(/Use another field of names/) as string,
  });
});
