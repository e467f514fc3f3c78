import {
  establishedRefOf,
  builtin,
  isApiError,
  keyOf,
  type KubeClient,
  type KubeObject,
  listAll,
  resourceNameOf,
  type ResourceRef,
} from "@drover/kube";
import type { DeployedFunction } from "../deployed-functions.ts";
import { stuckAfter } from "./check-functions.ts";
import type { Finding } from "./finding.ts";
import { finalizerPrefix } from "../why/describe-orphan.ts";

/**
 * Objects with a finalizer of a function: those whose deletion waits for a long time, and those whose function is gone.
 * Looks at all kinds that a CRD defines.
 */
export async function checkFinalizers(
  client: KubeClient,
  functions: readonly DeployedFunction[],
  now: number,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const crd of await listAll(client, builtin.crd, {})) {
    const ref = establishedRefOf(crd);
    if (ref === undefined || ref.group === "drover.dev") continue;
    const objects = await listAll(client, ref, { metadataOnly: true }).catch((error: unknown) => {
      if (isApiError(error, "Forbidden", "NotServed")) return [];
      throw error;
    });
    findings.push(...checkKind(ref, objects, namesFor(ref, functions), now));
  }
  const subject = "finalizers";
  if (findings.length > 0) return findings;
  return [
    { level: "ok", subject, message: "no object waits for one, and none is left of a function that is gone" },
  ];
}

/** The names of the functions for a kind. */
const namesFor = (
  { group, plural }: ResourceRef,
  functions: readonly DeployedFunction[],
): ReadonlySet<string> =>
  new Set(
    functions.flatMap(({ name, spec }) =>
      spec === undefined || (spec.for.group === group && spec.for.plural === plural) ? [name] : [],
    ),
  );

function checkKind(
  ref: ResourceRef,
  objects: readonly KubeObject[],
  names: ReadonlySet<string>,
  now: number,
): readonly Finding[] {
  const kind = resourceNameOf(ref);
  const held = (object: KubeObject): readonly string[] =>
    (object.metadata.finalizers ?? []).flatMap((one) =>
      one.startsWith(finalizerPrefix) ? [one.slice(finalizerPrefix.length)] : [],
    );
  const all = objects.map((object) => ({ object, by: held(object) })).filter(({ by }) => by.length > 0);
  const isLate = ({ metadata: { deletionTimestamp } }: KubeObject): boolean =>
    deletionTimestamp !== undefined && now - Date.parse(deletionTimestamp) >= stuckAfter;
  const orphaned = Map.groupBy(
    all.flatMap(({ object, by }) => by.filter((name) => !names.has(name)).map((name) => ({ name, object }))),
    ({ name }) => name,
  );
  const late = all.filter(({ object, by }) => isLate(object) && by.some((name) => names.has(name)));
  const [first] = late;
  return [
    ...[...orphaned].map(([name, left]): Finding => ({
      level: "problem",
      subject: kind,
      message: `${left.length} objects, such as ${exampleOf(left)}, have the finalizer of ${name}, and no function of that name is for their kind.`,
      next: `Deploy ${name} again, or: drover remove ${name} --release --kind ${kind}`,
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
