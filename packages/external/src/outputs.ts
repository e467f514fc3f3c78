import { objectKey, type OwnerReference } from "@drover/controller";
import { builtin, isApiError, isControlledBy, type ResourceRef } from "@drover/kube";
import type { PresentResource } from "./external-port.ts";
import type { ExternalRun } from "./external-run.ts";
import type { Outputs } from "./external-spec.ts";
import type { SettingReport } from "./settings/apply-settings.ts";
import { SettingRefusal } from "./settings/setting.ts";

/**
 * Writes the outputs of a resource into the object that the spec names, and deletes the one that it no longer names.
 *
 * Only an object that this run's object controls is changed: an author of buckets must not be able to overwrite the
 * Secrets of others. Kubernetes deletes it with its owner.
 *
 * @returns no report if the spec names none.
 */
export async function writeOutputs(
  run: ExternalRun<PresentResource>,
  values: Readonly<Record<string, string>>,
): Promise<readonly SettingReport[]> {
  const { spec, status } = run.context;
  const before = status.outputs;
  try {
    if (before !== undefined && !isSame(before, spec.outputs)) await deleteOutputs(run, before);
    if (spec.outputs === undefined) return [];
    return [{ setting: "outputs", refusal: await write(run, spec.outputs, values) }];
  } catch (error) {
    if (!isApiError(error, "Forbidden")) throw error;
    const { kind = "ConfigMap" } = spec.outputs ?? before ?? {};
    const help = `Let the function get, create, patch and delete ${kind}s, or remove spec.outputs.`;
    return [{ setting: "outputs", refusal: new SettingRefusal("Forbidden", `${error.message} ${help}`) }];
  }
}

const isSame = (a: Outputs, b: Outputs | undefined): boolean => a.kind === b?.kind && a.name === b.name;

const refOf = (kind: Outputs["kind"]): ResourceRef =>
  kind === "Secret" ? builtin.secret : builtin.configMap;

async function write(
  run: ExternalRun<PresentResource>,
  { kind, name }: Outputs,
  values: Readonly<Record<string, string>>,
): Promise<SettingRefusal | undefined> {
  const { client, metadata, signal } = run.context;
  const place = { namespace: metadata.namespace ?? "", name };
  const data = kind === "Secret" ? encoded(values) : values;
  const found = await client.get(refOf(kind), objectKey(place), { signal });
  if (found === undefined) {
    const owned = { ...place, ownerReferences: [ownerReference(run)] };
    await client.create(refOf(kind), { metadata: owned, data }, { signal });
    return undefined;
  }
  if (!isControlledBy(found.metadata, metadata)) {
    const message = `${kind} ${name} exists and was not created for this object. Choose another spec.outputs.name, or delete it.`;
    return new SettingRefusal("OutputsNotOwned", message);
  }
  if (!contains(found["data"], data)) {
    const { resourceVersion } = found.metadata;
    const patch = { type: "merge", body: { metadata: { resourceVersion }, data } } as const;
    await client.patch(refOf(kind), objectKey(place), patch, { signal });
  }
  return undefined;
}

async function deleteOutputs(run: ExternalRun<PresentResource>, { kind, name }: Outputs): Promise<void> {
  const { client, metadata, signal } = run.context;
  const key = objectKey({ namespace: metadata.namespace ?? "", name });
  const found = await client.get(refOf(kind), key, { signal });
  if (found === undefined || !isControlledBy(found.metadata, metadata)) return;
  const { uid, resourceVersion } = found.metadata;
  await client.delete(refOf(kind), key, { uid, resourceVersion, signal });
}

const ownerReference = ({ context, port }: ExternalRun<PresentResource>): OwnerReference => ({
  apiVersion: port.apiVersion,
  kind: port.words.kind,
  name: context.metadata.name,
  uid: context.metadata.uid,
  controller: true,
});

const encoded = (values: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(values).map(([field, value]) => [field, Buffer.from(value).toString("base64")]),
  );

const contains = (found: unknown, wanted: Readonly<Record<string, string>>): boolean => {
  const fields = new Map<string, unknown>(Object.entries(found ?? {}));
  return Object.entries(wanted).every(([field, value]) => fields.get(field) === value);
};
