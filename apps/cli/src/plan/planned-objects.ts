import { type Controller, lastAppliedAnnotation } from "@drover/controller";
import { exactYaml } from "@drover/json";
import { keyOf, type KubeClient, type KubeObject, listAll, type NewObject, refOf } from "@drover/kube";
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { CommandError } from "../command-error.ts";
import { threeWayMergePatch } from "../deploy/three-way-merge-patch.ts";
import { parseObjectArguments, queriedKey, wordsOf } from "../find-object.ts";
import type { PlanOptions } from "./plan-object.ts";

/** An object to plan, as the run reads it. */
export type PlannedObject = Pick<PlanOptions, "object" | "isStored">;

/** The objects that the command line names. */
export interface ObjectSelection {
  readonly words: readonly [first: string | undefined, second: string | undefined];
  readonly file: string | undefined;
  readonly all: boolean;
}

interface Cluster {
  readonly controller: Controller;
  readonly client: KubeClient;
  /** The namespace of objects that name none. */
  readonly namespace: string;
  /** Only objects of it, if all are planned. */
  readonly onlyIn: string | undefined;
}

/** @throws CommandError if the selection is not clear, or the object does not exist. */
export async function plannedObjects(
  cluster: Cluster,
  { words: [first, second], file, all }: ObjectSelection,
): Promise<readonly PlannedObject[]> {
  const { controller, client, onlyIn } = cluster;
  if ([first !== undefined, file !== undefined, all].filter(Boolean).length !== 1)
    throw new CommandError("Which object? Write: drover plan KIND NAME, or give --file FILE or --all");
  if (all) {
    const objects = await listAll(client, refOf(controller.for), { namespace: onlyIn });
    return objects.map((object) => ({ object, isStored: true }));
  }
  return file === undefined ? [await named(cluster, first ?? "", second)] : objectsIn(cluster, file);
}

async function named(
  { controller, client, namespace }: Cluster,
  first: string,
  second: string | undefined,
): Promise<PlannedObject> {
  const { for: resource } = controller;
  const [kind, name] = parseObjectArguments(first, second, "plan");
  if (![...wordsOf(resource), resource.singular].includes(kind.toLowerCase()))
    throw new CommandError(`The function is for the kind ${resource.kind}, not for ${JSON.stringify(kind)}.`);
  const key = queriedKey({ name, namespace }, resource.scope);
  const object = await client.get(refOf(resource), key);
  if (object !== undefined) return { object, isStored: true };
  throw new CommandError(
    `There is no ${resource.kind} ${key}. To plan one that does not exist yet, give its manifest: --file FILE`,
  );
}

const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string().min(1), namespace: z.string().min(1).exactOptional() }),
});
type Manifest = z.output<typeof manifestSchema>;

/** The objects of the function's kind in a file, as they would be after `kubectl apply`. */
async function objectsIn(cluster: Cluster, file: string): Promise<readonly PlannedObject[]> {
  const { apiVersion, kind } = cluster.controller.for;
  const manifests = manifestsIn(file).filter((one) => one.apiVersion === apiVersion && one.kind === kind);
  if (manifests.length === 0) throw new CommandError(`${file} has no ${kind} of ${apiVersion}.`);
  return Promise.all(manifests.map((manifest) => applied(cluster, manifest)));
}

function manifestsIn(file: string): readonly Manifest[] {
  return parseAllDocuments(readFileSync(file, "utf8"), exactYaml.options).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined)
      throw new CommandError(`${file} is not YAML: ${error.message}`, { cause: error });
    const value: unknown = document.toJS(exactYaml);
    if (value === null) return [];
    const { data, error: problem } = manifestSchema.safeParse(value);
    if (data !== undefined) return [data];
    throw new CommandError(`${file} has no Kubernetes object: ${z.prettifyError(problem)}`);
  });
}

/** Applies a manifest as a dry run, as `kubectl apply` does for custom resources: by a merge patch with three sides. */
async function applied(
  { controller, client, namespace }: Cluster,
  { metadata: stated, status: _, ...rest }: Manifest,
): Promise<PlannedObject> {
  const ref = refOf(controller.for);
  const metadata = { ...stated, ...(ref.namespaced && { namespace: stated.namespace ?? namespace }) };
  const manifest: NewObject = { ...rest, metadata };
  const live = await client.get(ref, keyOf(manifest));
  if (live === undefined)
    return { object: await client.create(ref, manifest, { dryRun: true }), isStored: false };
  const patch = threeWayMergePatch({ ...rest, metadata }, lastAppliedTo(live), live);
  if (patch === undefined) return { object: live, isStored: true };
  const object = await client.patch(ref, keyOf(live), { type: "merge", body: patch }, { dryRun: true });
  return { object, isStored: false };
}

function lastAppliedTo({ metadata: { annotations = {} } }: KubeObject): Readonly<Record<string, unknown>> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(annotations[lastAppliedAnnotation] ?? "{}"));
  } catch {
    return {};
  }
}
