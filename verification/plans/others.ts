import {
  builtin,
  isApiError,
  type KubeClient,
  type KubeObject,
  keyOf,
  refOf,
  type ResourceRef,
} from "@drover/kube";
import type { PseudoRandom } from "@drover/random";
import { Website } from "../../packages/compose/src/website.fixture.ts";
import { secretPrefix } from "./random-children.ts";

/** The kinds that the suite looks at. */
export const childRefs: readonly ResourceRef[] = [
  builtin.configMap,
  builtin.secret,
  builtin.service,
  builtin.deployment,
];
export const websiteRef = refOf(Website);

/** An object that exists, and how to reach it. */
export interface Found {
  readonly ref: ResourceRef;
  readonly object: KubeObject;
}

const finalizer = "example.com/slow";

/** One change by another client of the API server: to a child, or beside them. Returns its description. */
export async function actAsOthers(
  client: KubeClient,
  random: PseudoRandom,
  { namespace, found }: { readonly namespace: string; readonly found: readonly Found[] },
): Promise<string> {
  const [one] = random.some(found, 1);
  const act = one === undefined ? "create" : random.oneOf(acts);
  if (one === undefined || act === "create") {
    const name = random.oneOf(["one", "two", "three", "four", "five"]);
    const ref = random.oneOf([builtin.configMap, builtin.secret]);
    const data =
      ref === builtin.secret ? { stringData: { a: `${secretPrefix}x` } } : { data: { a: "theirs" } };
    if ((await client.get(ref, keyOf({ metadata: { name, namespace } }))) === undefined)
      await client.create(ref, { metadata: { name, namespace }, ...data });
    return `create ${ref.kind} ${name}`;
  }
  const key = keyOf(one.object);
  const merge = (body: object) =>
    client.patch(one.ref, key, { type: "merge", body }).catch((error: unknown) => {
      if (!isApiError(error, "Invalid")) throw error; // An immutable ConfigMap.
    });
  switch (act) {
    case "edit":
      await merge(editOf(one, random));
      break;
    case "label":
      await merge({ metadata: { labels: { tier: "theirs" } } });
      break;
    case "unlabel":
      await merge({ metadata: { labels: { "drover.dev/owner-uid": null } } });
      break;
    case "unmark":
      await merge({ metadata: { annotations: { "drover.dev/applied": null } } });
      break;
    case "disown":
      await merge({ metadata: { ownerReferences: null } });
      break;
    case "delete":
      await client.delete(one.ref, key);
      break;
    case "finalize":
      await merge({ metadata: { finalizers: [finalizer] } });
      await client.delete(one.ref, key);
      break;
  }
  return `${act} ${one.ref.kind} ${key}`;
}

const acts = [
  ...(["create", "edit", "edit", "edit", "edit", "label", "unlabel"] as const),
  ...(["unmark", "disown", "delete", "finalize"] as const),
];

function editOf({ ref }: Found, random: PseudoRandom): object {
  switch (ref.kind) {
    case "ConfigMap":
      return random.chance(0.5) ? { data: { a: "theirs" } } : { data: { theirs: "t" } };
    case "Secret":
      return { data: { a: Buffer.from(`${secretPrefix}theirs`).toString("base64") } };
    case "Deployment":
      return { spec: { replicas: random.oneOf([3, 4]) } };
    default:
      return { spec: { sessionAffinity: random.oneOf(["ClientIP", "None"]) } };
  }
}

/** Deployments become ready, or not any more, and objects that wait for their finalizer go. */
export async function moveOn(
  client: KubeClient,
  random: PseudoRandom,
  found: readonly Found[],
): Promise<void> {
  for (const { ref, object } of found) {
    const key = keyOf(object);
    const { deletionTimestamp, finalizers, generation } = object.metadata;
    if (deletionTimestamp !== undefined && finalizers !== undefined && random.chance(0.5))
      await client.patch(ref, key, { type: "merge", body: { metadata: { finalizers: null } } });
    else if (ref.kind === "Deployment" && random.chance(0.7)) {
      const ready = random.oneOf([0, 2, 2, 2]);
      const counts = { replicas: 2, updatedReplicas: 2, readyReplicas: ready, availableReplicas: ready };
      const body = { status: { ...counts, observedGeneration: generation } };
      await client.patch(ref, key, { type: "merge", body }, { subresource: "status" });
    }
  }
}
