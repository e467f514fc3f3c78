import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { podField } from "../pods/pod-fields.ts";
import type { NodePod, Volume } from "../pods/pod.ts";
import { MissingReferenceError, type References, type SourceKind } from "./references.ts";

interface VolumeFile {
  readonly path: string;
  readonly content: Buffer | string;
  readonly mode: number;
}

/** A Secret or a ConfigMap, and those of its keys that are wanted. */
type KeyedSource = Omit<NonNullable<Volume["configMap"]>, "defaultMode">;

/** Where the files of a pod come from. */
export interface VolumeSources {
  readonly pod: NodePod;
  readonly address: string;
  readonly references: References;
}

const defaultMode = 0o644;

/**
 * Writes a pod's volumes, each to the folder of its name in `folder`, with the modes that are asked for.
 * Throws MissingReferenceError for a Secret, a ConfigMap or a key that is not there and not optional.
 */
export async function writeVolumes(sources: VolumeSources, folder: string): Promise<void> {
  for (const volume of sources.pod.spec.volumes) {
    const volumeFolder = join(folder, inside(volume.name));
    const files = await filesOf(volume, sources);
    await mkdir(volumeFolder, { recursive: true });
    for (const { path, content, mode } of files) {
      const place = join(volumeFolder, inside(path));
      await mkdir(dirname(place), { recursive: true });
      await writeFile(place, content, { mode: 0o600 });
      await chmod(place, mode);
    }
  }
}

function inside(path: string): string {
  const plain = normalize(path);
  if (!plain.startsWith("..") && !plain.startsWith("/")) return plain;
  throw new MissingReferenceError(`the path ${path} of a volume leads out of it`);
}

/** A volume of one source is as one that is projected from it. */
async function filesOf(volume: Volume, sources: VolumeSources): Promise<VolumeFile[]> {
  const { secret, configMap, downwardAPI, projected } = volume;
  const own = { secret: secret && { ...secret, name: secret.secretName }, configMap, downwardAPI };
  const mode = (secret ?? configMap ?? downwardAPI ?? projected)?.defaultMode ?? defaultMode;
  const parts = [own, ...(projected?.sources ?? [])].map(async (source) => [
    ...(source.secret ? await keyedFiles("secret", source.secret, mode, sources) : []),
    ...(source.configMap ? await keyedFiles("configMap", source.configMap, mode, sources) : []),
    ...(source.downwardAPI ? downwardFiles(source.downwardAPI, mode, sources) : []),
  ]);
  return (await Promise.all(parts)).flat();
}

async function keyedFiles(
  kind: SourceKind,
  { name, items, optional }: KeyedSource,
  usualMode: number,
  { references }: VolumeSources,
): Promise<VolumeFile[]> {
  const content = await references.content(kind, { name, optional });
  if (items == null) return [...content].map(([path, value]) => ({ path, content: value, mode: usualMode }));
  return items.flatMap(({ key, path, mode }) => {
    const value = content.get(key);
    if (value !== undefined) return [{ path, content: value, mode: mode ?? usualMode }];
    if (optional) return [];
    throw new MissingReferenceError(`${kind.toLowerCase()} "${name}" has no key ${key}`);
  });
}

const downwardFiles = (
  { items }: NonNullable<Volume["downwardAPI"]>,
  usualMode: number,
  { pod, address }: VolumeSources,
): VolumeFile[] =>
  items.map(({ path, fieldRef, mode }) => {
    const content = fieldRef == null ? undefined : podField(pod, address, fieldRef.fieldPath);
    if (content === undefined)
      throw new MissingReferenceError(`the file ${path} of a volume names no field that this node knows`);
    return { path, content, mode: mode ?? usualMode };
  });
