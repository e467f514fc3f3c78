import { controllerOfFinalizer } from "@drover/controller";
import {
  establishedRefOf,
  builtin,
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
import { type DeployedFunction, isForKind, listServed } from "../deployed-functions.ts";
import { stuckAfter } from "./check-functions.ts";
import { type Finding, unlessForbidden } from "./finding.ts";

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
      const objects = await listServed(client, ref, { metadataOnly: true });
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

interface HeldObject {
  readonly object: KubeObject;
  /** The functions whose finalizers it has, by their names. */
  readonly by: readonly string[];
}

function checkKind(
  ref: ResourceRef,
  objects: readonly KubeObject[],
  functions: readonly DeployedFunction[],
  now: number,
): readonly Finding[] {
  const kind = resourceNameOf(ref);
  const held = objects.flatMap((object): readonly HeldObject[] => {
    const by = object.metadata.finalizers?.flatMap((one) => controllerOfFinalizer(one) ?? []) ?? [];
    return by.length === 0 ? [] : [{ object, by }];
  });
  const isManaged = managedBy(functions.filter((fn) => isForKind(fn, ref) ?? true));
  const orphaned = Map.groupBy(
    held.flatMap(({ object, by }) =>
      by.filter((name) => !isManaged(object, name)).map((name) => ({ name, object })),
    ),
    ({ name }) => name,
  );
  const late = held.filter(
    ({ object, by }) => isLate(object, now) && by.some((name) => isManaged(object, name)),
  );
  return [
    ...[...orphaned].map(([name, left]): Finding => ({
      level: "problem",
      subject: kind,
      message: `${countedHave(left)} the finalizer of ${name}, and no function of that name is for such objects.`,
      next: `Deploy ${name} again. If it is gone for good, also as one with a bridge of its own: drover remove ${name} --release --kind ${kind}`,
    })),
    ...(late.length === 0
      ? []
      : [
          {
            level: "warning",
            subject: kind,
            message: `${countedHave(late)} been waiting to be finalized for more than five minutes.`,
            next: `drover why ${kind} ${exampleOf(late)}`,
          } as const,
        ]),
  ];
}

/** Decides whether one of these functions has a name and is for an object. One whose spec cannot be read is for all. */
function managedBy(functions: readonly DeployedFunction[]): (object: KubeObject, name: string) => boolean {
  const all = functions.map(({ name, spec }) => ({
    name,
    namespaces: spec?.for.namespaces,
    selector: labelSelectorIn(spec?.for.labelSelector) ?? {},
  }));
  return ({ metadata: { namespace = "", labels } }, asked) =>
    all.some(
      ({ name, namespaces = [namespace], selector }) =>
        name === asked && namespaces.includes(namespace) && matchesLabels(selector, labels),
    );
}

const isLate = ({ metadata: { deletionTimestamp } }: KubeObject, now: number): boolean =>
  deletionTimestamp !== undefined && now - Date.parse(deletionTimestamp) >= stuckAfter;

/** "1 object (web/a) has", or "5 objects, such as web/a, have". */
const countedHave = (found: readonly { readonly object: KubeObject }[]): string =>
  found.length === 1
    ? `1 object (${exampleOf(found)}) has`
    : `${found.length} objects, such as ${exampleOf(found)}, have`;
const exampleOf = ([first]: readonly { readonly object: KubeObject }[]): string =>
  first === undefined ? "" : keyOf(first.object);
