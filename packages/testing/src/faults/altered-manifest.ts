import { parseJson, writeJson } from "@drover/json";
import { isArray, isObject, type Json } from "@drover/sandbox";
import type { Manifest, User } from "../kubectl/user.ts";

/** The most values that are tried one by one. */
const maxAttempts = 200;

/**
 * The manifest with other values in all fields of its content, where the API server accepts them: `kubectl diff` would show
 * each. Its metadata, labels and selectors stay.
 */
export async function alteredManifest(user: User, manifest: Manifest): Promise<Manifest> {
  const { apiVersion, kind, metadata, ...content } = manifest;
  const plain = jsonOf(content);
  const withContent = (changed: Json): Manifest => ({
    apiVersion,
    kind,
    metadata,
    ...(isObject(changed) ? changed : {}),
  });
  const paths = leavesOf(plain)
    .filter((path) => !path.some(isOfLabels))
    .slice(0, maxAttempts);
  const all = paths.reduce((changed, path) => replaced(changed, path, others(at(plain, path))[0]), plain);
  if (await user.isAcceptable(withContent(all))) return withContent(all);
  let accepted = plain;
  for (const path of paths) {
    for (const value of others(at(plain, path))) {
      const tried = replaced(accepted, path, value);
      if (!(await user.isAcceptable(withContent(tried)))) continue;
      accepted = tried;
      break;
    }
  }
  return withContent(accepted);
}

/** Objects are selected by labels, so these stay. */
const isOfLabels = (field: string): boolean => field === "labels" || field === "selector";

/** Values of the same type; a text may have to be base64. */
function others(value: Json | undefined): readonly [Json, ...Json[]] {
  if (typeof value === "number") return [value + 1, value - 1];
  if (typeof value === "bigint") return [value + 1n, value - 1n];
  if (typeof value === "boolean") return [!value];
  return [`${typeof value === "string" ? value : ""}-of-another-owner`, "YW5vdGhlciBvd25lcidz"];
}

type Path = readonly string[];

function leavesOf(value: Json): readonly Path[] {
  if (!isObject(value) && !isArray(value)) return value === null ? [] : [[]];
  return Object.entries(value).flatMap(([name, part]) => leavesOf(part).map((path) => [name, ...path]));
}

const partOf = (value: Json | undefined, name: string): Json | undefined =>
  isArray(value) ? value[Number(name)] : isObject(value) ? value[name] : undefined;

const at = (value: Json | undefined, [name, ...rest]: Path): Json | undefined =>
  name === undefined ? value : at(partOf(value, name), rest);

function replaced(value: Json, [name, ...rest]: Path, by: Json): Json {
  if (name === undefined) return by;
  const part = replaced(partOf(value, name) ?? null, rest, by);
  if (isArray(value)) return value.with(Number(name), part);
  return isObject(value) ? { ...value, [name]: part } : value;
}

const jsonOf = (content: object): Json => parseJson(writeJson(content)) as Json;
