import {
  differingPaths,
  namedObject,
  stableNamesBy,
  clusterStateOf,
  type ObjectValues,
} from "./faults/cluster-state.ts";
import type { ClusterSnapshot } from "./faults/cluster-snapshot.ts";

/** The changes between two snapshots, a line each: `+` a new object, `-` a deleted one, `~` a changed one. */
export function changesBetween(before: ClusterSnapshot, after: ClusterSnapshot): readonly string[] {
  const names = new Map(
    [...before.objects, ...after.objects].map((found) => [found.object.metadata.uid, found]),
  );
  const generated = [...names.values()].filter(({ object }) => object.metadata["generateName"] !== undefined);
  const byChance = new Set(generated.map((found) => JSON.stringify(namedObject(found))));
  const roleOf = stableNamesBy((object) => !byChance.has(JSON.stringify(object)));
  const [was, is] = [clusterStateOf(before, roleOf), clusterStateOf(after, roleOf)];
  return [...new Set([...was.keys(), ...is.keys()])].sort().flatMap((role) => {
    const [old, now] = [was.get(role) ?? [], is.get(role) ?? []];
    return Array.from({ length: Math.max(old.length, now.length) }, (_, i) =>
      changeOf(role, old[i], now[i]),
    ).flat();
  });
}

function changeOf(
  role: string,
  was: ObjectValues | undefined,
  is: ObjectValues | undefined,
): readonly string[] {
  if (was === undefined)
    return [`+ ${role}`, ...[...(is ?? [])].filter(isShown).map(([path, value]) => `    ${path}: ${value}`)];
  if (is === undefined) return [`- ${role}`];
  const paths = differingPaths(was, is);
  const shown = (values: ObjectValues, path: string): string => values.get(path) ?? "(none)";
  if (paths.length === 0) return [];
  return [`~ ${role}`, ...paths.map((path) => `    ${path}: ${shown(was, path)} -> ${shown(is, path)}`)];
}

/** False for fields that the object's name already shows. */
const isShown = ([path]: readonly [string, string]): boolean =>
  !/^(apiVersion|kind|metadata\.(name|namespace|generateName))$/.test(path);
