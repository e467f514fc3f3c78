import {
  establishedRefOf,
  builtin,
  isApiError,
  keyOf,
  type KubeClient,
  type KubeObject,
  labelSelectorIn,
  listAll,
  matchesLabels,
  refOf,
  resourceNameOf,
  type ResourceRef,
} from "@drover/kube";
import type { DeployedFunction } from "../deployed-functions.ts";
import { stuckAfter } from "./check-functions.ts";
import { type Finding, unlessForbidden } from "./finding.ts";
import { finalizerPrefix } from "../why/describe-orphan.ts";

/**
 * Objects with a finalizer of a function: those whose deletion waits for a long time, and those that no function is for.
 * Looks at the kinds that a CRD defines, and at those of the functions.
 */
export async function checkFinalizers(
  client: KubeClient,
  functions: readonly DeployedFunction[],
  now: number,
): Promise<readonly Finding[]> {
  const defined = (await listAll(client, builtin.crd, {})).flatMap((crd) => establishedRefOf(crd) ?? []);
  const served = functions.flatMap(({ spec }) => (spec === undefined ? [] : [refOf(spec.for)]));
  const kinds = new Map([...served, ...defined].map((ref) => [resourceNameOf(ref), ref]));
  const findings: Finding[] = [];
  for (const [kind, ref] of kinds) {
    if (ref.group === "drover.dev") continue;
    const found = await unlessForbidden(kind, async () => {
      const objects = await listAll(client, ref, { metadataOnly: true }).catch((error: unknown) => {
        if (isApiError(error, "NotServed")) return [];
        throw error;
      });
      return checkKind(ref, objects, functions, now);
    });
    findings.push(...found);
  }
  const subject = "finalizers";
  if (findings.length > 0) return findings;
  return [
    { level: "ok", subject, message: "no object waits for one, and none is left of a function that is gone" },
  ];
}

/** The names of the functions that may be for an object. One with a spec that cannot be read may be for any. */
const namesFor = (
  { group, plural }: ResourceRef,
  { metadata: { namespace = "", labels } }: KubeObject,
  functions: readonly DeployedFunction[],
): ReadonlySet<string> =>
  new Set(
    functions.flatMap(({ name, spec }) => {
      if (spec === undefined) return [name];
      const { namespaces = [namespace], ...its } = spec.for;
      const isFor =
        its.group === group &&
        its.plural === plural &&
        namespaces.includes(namespace) &&
        matchesLabels(labelSelectorIn(its.labelSelector) ?? {}, labels);
      return isFor ? [name] : [];
    }),
  );

function checkKind(
  ref: ResourceRef,
  objects: readonly KubeObject[],
  functions: readonly DeployedFunction[],
  now: number,
): readonly Finding[] {
  const kind = resourceNameOf(ref);
  const held = (object: KubeObject): readonly string[] =>
    (object.metadata.finalizers ?? []).flatMap((one) =>
      one.startsWith(finalizerPrefix) ? [one.slice(finalizerPrefix.length)] : [],
    );
  const all = objects
    .map((object) => ({ object, by: held(object), names: namesFor(ref, object, functions) }))
    .filter(({ by }) => by.length > 0);
  const isLate = ({ metadata: { deletionTimestamp } }: KubeObject): boolean =>
    deletionTimestamp !== undefined && now - Date.parse(deletionTimestamp) >= stuckAfter;
  const orphaned = Map.groupBy(
    all.flatMap(({ object, by, names }) =>
      by.filter((name) => !names.has(name)).map((name) => ({ name, object })),
    ),
    ({ name }) => name,
  );
  const late = all.filter(({ object, by, names }) => isLate(object) && by.some((name) => names.has(name)));
  const [first] = late;
  return [
    ...[...orphaned].map(([name, left]): Finding => ({
      level: "problem",
      subject: kind,
      message: `${left.length} objects, such as ${exampleOf(left)}, have the finalizer of ${name}, and no function of that name is for them.`,
      next: `Deploy ${name} again. If it is gone for good, also as one with a bridge of its own: drover remove ${name} --release --kind ${kind}`,
    })),
    ...(first === undefined
      ? []
      : [
          {
            level: "warning",
            subject: kind,
            message: `${late.length} objects have been waiting to be finalized for more than five minutes.`,
            next: `drover why ${kind} ${keyOf(first.object)}`,
          } as const,
        ]),
  ];
}

const exampleOf = ([first]: readonly { readonly object: KubeObject }[]): string =>
  first === undefined ? "" : keyOf(first.object);
