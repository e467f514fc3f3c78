import fc from "fast-check";
import {
  type Access,
  describeAccess,
  neededAccess,
  ReconcileFunction,
  type ReconcileFunctionSpec,
} from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import { authorAnnotations } from "@drover/runtime";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { objectsOf } from "../deploy.ts";
import type { FunctionContext, FunctionObject } from "../objects/function-object.ts";
import type { DeployRunContext } from "../run-context.ts";
import { accessReviews } from "./access-reviews.ts";
import { grantedAccess, maxAccesses } from "./granted-access.ts";
import { permit } from "./permit.ts";
import type { PermitRecord } from "./permit-records.ts";
import { cup, cupSpec, environment, functionRef } from "../testing/cups.ts";

const { bridge } = environment;

const letters = "a b c d e f g h i j k l m n".split(" ");
const word = fc.constantFrom(...letters);
const words = (maxLength: number, of = word) => fc.uniqueArray(of, { minLength: 1, maxLength });
/** A resource; among verbs a word as good as any. */
const path = fc.constantFrom(...letters, "*", "pods/exec", "a/status");
/** Any of the lists may be the long one. */
const rule = fc
  .tuple(
    words(1),
    words(2, path),
    words(12, path),
    fc.option(words(12), { nil: undefined, freq: 3 }),
    fc.nat(2),
  )
  .map(([one, two, many, resourceNames, turn]) => {
    const [apiGroups = [], resources = [], verbs = []] = [one, two, many, one, two].slice(turn);

    return { apiGroups, resources, verbs, ...(resourceNames && { resourceNames }) };
  });
const rules = fc.array(rule, { maxLength: 12 });
const kind = fc
  .tuple(word, word, fc.option(words(12), { nil: undefined }))
  .map(([group, plural, namespaces]) => ({
    group,
    version: "v1",
    kind: "Thing",
    plural,
    scope: "Namespaced",
    ...(namespaces && { namespaces }),
  }));
const hook = word.map((name) => ({
  name,
  names: { field: "name" },
  verify: { bearer: { secretRef: { name, key: "k" } } },
}));
const spec = fc
  .record({
    for: kind,
    owns: fc.uniqueArray(kind, { maxLength: 12, selector: ({ group, plural }) => `${plural}.${group}` }),
    watches: fc.array(
      kind.map((one) => ({ ...one, names: { label: "l" } })),
      { maxLength: 12 },
    ),
    hooks: fc.array(hook, { maxLength: 12 }),
    container: fc.constant({ image: "cups" }),
    permissions: fc.record({ namespace: rules, cluster: rules }),
    delivery: fc.constantFrom("pull", "webhook"),
  })
  .map((all) => ReconcileFunction.spec.parse(all));

/** Each access that a spec asks for, and the ServiceAccount that needs it. */
function askedFor(of: ReconcileFunctionSpec): readonly (readonly [Access, typeof bridge | undefined])[] {
  const asked: [Access, typeof bridge | undefined][] = [];
  const ask = (
    account: typeof bridge | undefined,
    namespace: string | undefined,
    group: string,
    path: string,
    verbs: readonly string[],
    name?: string,
  ): void => {
    const [resource = "", subresource] = path.split("/");
    for (const verb of verbs) asked.push([{ namespace, verb, group, resource, subresource, name }, account]);
  };
  for (const { group, plural, namespaces } of [of.for, ...(of.owns ?? []), ...(of.watches ?? [])])
    for (const namespace of namespaces ?? [undefined])
      ask(bridge, namespace, group, plural, ["list", "watch"]);
  for (const [namespace, all = []] of [
    [functionRef.namespace, of.permissions?.namespace],
    [undefined, of.permissions?.cluster],
  ] as const)
    for (const { apiGroups, resources, verbs, resourceNames } of all)
      for (const group of apiGroups)
        for (const path of resources)
          for (const name of resourceNames ?? [undefined])
            ask(functionRef, namespace, group, path, verbs, name);
  if (of.delivery === "webhook")
    for (const namespace of of.for.namespaces ?? [undefined]) {
      ask(functionRef, namespace, of.for.group, of.for.plural, ["get", "patch"]);
      ask(functionRef, namespace, of.for.group, `${of.for.plural}/status`, ["update"]);
      ask(functionRef, namespace, "events.k8s.io", "events", ["create", "patch"]);
    }
  for (const { verify } of of.hooks ?? [])
    ask(undefined, functionRef.namespace, "", "secrets", ["get"], verify.bearer?.secretRef.name);
  ask(undefined, functionRef.namespace, "", "pods", ["create"]);
  return asked;
}

const roleSchema = z.looseObject({
  rules: z.array(
    z.object({
      apiGroups: z.array(z.string()),
      resources: z.array(z.string()),
      verbs: z.array(z.string()),
      resourceNames: z.array(z.string()).optional(),
    }),
  ),
});
const bindingSchema = z.looseObject({
  roleRef: z.object({ apiGroup: z.string(), kind: z.string(), name: z.string() }),
  subjects: z.array(z.object({ kind: z.string(), namespace: z.string(), name: z.string() })),
});

/** Whether the rights among these objects allow it to a ServiceAccount, as Kubernetes' RBAC authorizer decides. */
function isGranted(objects: readonly FunctionObject[], access: Access, account: typeof bridge): boolean {
  const wanted = objects.filter((one) => one.wanted);
  return wanted.some(({ ref, object }) => {
    if (ref !== builtin.role && ref !== builtin.clusterRole) return false;
    const { name, namespace, labels = {} } = object.metadata;
    if (namespace !== undefined && namespace !== access.namespace) return false;
    const isAggregated = account === bridge && labels["drover.dev/aggregate-to-bridge"] === "true";
    const isBound = wanted.some(({ ref: of, object: binding }) => {
      if (of.kind !== `${ref.kind}Binding` || binding.metadata.namespace !== namespace) return false;
      const { roleRef, subjects } = bindingSchema.parse(binding);
      const isIt = roleRef.apiGroup === ref.group && roleRef.kind === ref.kind && roleRef.name === name;
      return isIt && subjects.some((one) => one.namespace === account.namespace && one.name === account.name);
    });
    const path = [access.resource, access.subresource].filter(Boolean).join("/");
    return (
      (isBound || isAggregated) &&
      roleSchema
        .parse(object)
        .rules.some(
          ({ apiGroups, resources, verbs, resourceNames = [] }) =>
            verbs.includes(access.verb) &&
            apiGroups.includes(access.group) &&
            resources.includes(path) &&
            (resourceNames.length === 0 || resourceNames.includes(access.name ?? "")),
        )
    );
  });
}

/** The run context of a function whose author may do all but what is denied, by the answers to SubjectAccessReviews. */
function runContextOf(of: ReconcileFunctionSpec, denied?: Access): DeployRunContext {
  const client = {
    review: (_: unknown, { resourceAttributes }: { readonly resourceAttributes: Access }) => {
      const { name, ...asked } = resourceAttributes;
      // Access to objects of every name is asked for with a name that no rule mentions.
      const isIt =
        denied !== undefined && describeAccess({ ...denied, name: undefined }) === describeAccess(asked);
      const ofName = denied?.name === undefined ? !/^[a-n]$/.test(name ?? "") : name === denied.name;
      return Promise.resolve({ allowed: !(isIt && ofName) });
    },
  } as Partial<KubeClient> as KubeClient;
  const annotations = { [authorAnnotations.user]: "ada", [authorAnnotations.epoch]: "e" };
  const nothing = () => Promise.resolve(undefined);
  return {
    functionRef,
    installation: undefined,
    context: {
      spec: of,
      status: {},
      signal: new AbortController().signal,
      metadata: { ...functionRef, resourceVersion: "1", annotations },
    } as Partial<FunctionContext>,
    environment,
    permits: {
      namespace: "drover",
      reviews: accessReviews(client, { remembered: 0, now: () => 0 }),
      guards: { epoch: () => Promise.resolve("e") },
      records: { get: nothing, store: nothing },
    },
  } as unknown as DeployRunContext;
}

it("what a spec asks for is granted and reviewed, wherever it stands in whichever list", async () => {
  const isHeld = fc.asyncProperty(spec, fc.nat(), async (of, nth) => {
    const asked = askedFor(of);
    fc.pre(asked.length <= maxAccesses);
    const [access, account] = asked[nth % asked.length] ?? expect.fail("It asks for nothing.");
    const objects = objectsOf(runContextOf(of));
    if (account !== undefined) expect(isGranted(objects, access, account)).toBe(true);
    expect(neededAccess(of, functionRef.namespace).map(describeAccess)).toContain(describeAccess(access));
    await permit(runContextOf(of), objects);
    await expect(permit(runContextOf(of, access), objects)).rejects.toMatchObject({
      reason: "PermissionNotHeld",
      message: expect.stringContaining(`The author ada may not ${describeAccess(access)}. `) as string,
    });
  });
  await fc.assert(isHeld, { numRuns: 200 });
});

describe("a permit", () => {
  const specWith = (image: string) => cupSpec({ container: { image }, permissions: { namespace: [rule] } });
  const rule = { apiGroups: [""], resources: ["pods"], verbs: ["get"] };
  interface Asking {
    readonly spec?: ReconcileFunctionSpec;
    readonly denied?: Access;
    readonly epoch?: string;
    readonly author?: string | undefined;
    readonly namespace?: string;
  }
  /** Asks for a permit beside the one that there is; answers what is recorded and how often the epoch was looked up. */
  async function asked(
    { spec: of = specWith("a"), denied, epoch = "e", author = "ada", namespace = "drover" }: Asking,
    before?: PermitRecord,
  ) {
    const recorded: PermitRecord[] = [];
    let epochs = 0;
    const runContext = runContextOf(of, denied);
    const { [authorAnnotations.user]: _, ...unnamed } = runContext.context.metadata.annotations ?? {};
    const annotations = author === "" ? unnamed : { ...unnamed, [authorAnnotations.user]: author };
    const metadata = { ...runContext.context.metadata, annotations };
    const permits = {
      ...runContext.permits,
      namespace,
      guards: { epoch: () => (epochs++, Promise.resolve(epoch)) },
      records: {
        get: () => Promise.resolve(before),
        store: (record: PermitRecord) => Promise.resolve(void recorded.push(record)),
      },
    } as unknown as DeployRunContext["permits"];
    const reason = await permit(
      { ...runContext, permits, context: { ...runContext.context, metadata } },
      objectsOf(runContext),
    ).then(
      () => undefined,
      (error: unknown) => (error as { readonly reason?: string }).reason,
    );
    return { reason, recorded, epochs };
  }
  const first = async () => (await asked({})).recorded[0] ?? expect.fail("Nothing was recorded.");
  const lost: Access = { verb: "get", group: "", resource: "pods", namespace: "tea" };

  it("is recorded once, with its author and all that was reviewed", async () => {
    const record = await first();
    expect(record).toMatchObject({ uid: "1", function: "tea/cups", author: { user: "ada", groups: [] } });
    expect(record.accesses).toContainEqual(lost);
    expect(await asked({}, record)).toEqual({ reason: undefined, recorded: [], epochs: 0 });
  });

  it("is reviewed in every run, though it is recorded", async () => {
    expect(await asked({ denied: lost }, await first())).toMatchObject({
      reason: "PermissionNotHeld",
      recorded: [],
    });
  });

  it.each([
    ["another author", { author: "bob" }],
    ["what is asked for", { spec: cupSpec({ ...specWith("a"), owns: [{ ...cup, plural: "pots" }] }) }],
  ])(
    "is asked for anew with %s: recorded where the policies name the author now, and else not",
    async (_, asking) => {
      const record = await first();
      expect(await asked(asking, record)).toMatchObject({
        reason: undefined,
        recorded: [{ uid: "1" }],
        epochs: 1,
      });
      expect(await asked({ ...asking, epoch: "later" }, record)).toEqual({
        reason: "AuthorUnknown",
        recorded: [],
        epochs: 1,
      });
    },
  );

  it("is not recorded where the author lacks something", async () => {
    expect(await asked({ denied: lost })).toMatchObject({ reason: "PermissionNotHeld", recorded: [] });
  });

  it("needs an author, but in the deployer's own namespace, where nothing is reviewed", async () => {
    expect(await asked({ author: "" })).toEqual({ reason: "AuthorUnknown", recorded: [], epochs: 0 });
    expect(await asked({ author: "", namespace: "tea", denied: lost })).toMatchObject({
      reason: undefined,
      epochs: 0,
      recorded: [{ author: { user: "", groups: [] } }],
    });
  });
});

it.each([
  [maxAccesses, false],
  [maxAccesses + 1, true],
])("of %i permissions a function is refused: %s", (count, isRefused) => {
  const verbs = Array.from({ length: count }, (_, i) => `v${i}`);
  const role = {
    metadata: { name: "a", namespace: "tea" },
    rules: [{ apiGroups: [""], resources: ["pods"], verbs }],
  };
  const of = (more: object) => () =>
    grantedAccess([{ ref: builtin.role, object: role, wanted: true, ...more }]);
  if (isRefused) expect(of({})).toThrow(/Ask for 500 at most/);
  else expect(of({})()).toHaveLength(count);
  // Objects to be deleted, and rights that need no review, do not count.
  for (const more of [{ wanted: false }, { reviewed: false }]) expect(of(more)()).toEqual([]);
});
