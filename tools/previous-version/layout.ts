/**
 * The layout of what neighbouring versions share: of the data in Redis, of the contract with functions that are called, and of
 * Drover's kinds. `layout.list` has that of the previous version. A change of it needs a new version (`dataVersions`,
 * `contractVersion`, the version of the kind), or a reason in compatible-changes.json: see verification/upgrades/layout.test.ts.
 *
 *     npx node tools/previous-version/layout.ts   # when previous.json names another commit: writes layout.list
 *
 * For the data in Redis, the layout lists all string literals of the Lua scripts: names of keys, fields and commands, and formats
 * of values. It does not show that a string has another meaning now, or that JSON inside of a value has changed:
 * `npm run versions` is for these.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { previous, sources } from "./build-previous.ts";

export const areas = ["ledger", "index", "contract", "kinds"] as const;
export type Area = (typeof areas)[number];

/** The layout of the sources in a folder, a line each: the area, and what is in it. */
export function layoutOf(folder: string): readonly string[] {
  const read = (path: string): string => readFileSync(join(folder, path), "utf8");
  const lua = (...patterns: string[]): readonly string[] =>
    globSync(patterns, { cwd: folder }).flatMap((path) => textsIn(read(path)));
  const found: Readonly<Record<Area, readonly string[]>> = {
    ledger: lua("packages/queue/src/{ledger,cache}/**/*.lua"),
    index: lua("packages/bridge/src/**/*.lua"),
    contract: leavesOf(JSON.parse(read("docs/contract/schema.json"))),
    kinds: leavesOf(parse(read("apps/bridge/deploy/crd.yaml"))),
  };
  return areas.flatMap((area) => [...new Set(found[area].map((one) => `${area} ${one}`))].sort());
}

/** The string literals of a Lua file. */
const textsIn = (lua: string): readonly string[] =>
  lua.replaceAll(/--.*$/gm, "").match(/'(?:[^'\\\n]|\\.)*'/g) ?? [];

/** The leaves of a schema, by their paths, without what is only for readers. */
function leavesOf(schema: unknown, path = ""): readonly string[] {
  if (typeof schema !== "object" || schema === null) return [`${path}=${JSON.stringify(schema)}`];
  return Object.entries(schema).flatMap(([name, value]) =>
    forReaders.has(name) && typeof value === "string"
      ? []
      : leavesOf(value, Array.isArray(schema) ? `${path}[]` : withoutSchema(`${path}.${name}`)),
  );
}

const forReaders: ReadonlySet<string> = new Set(["description", "title", "message"]);
/** A path without the words of JSON schema that are on the way to each property. */
const withoutSchema = (path: string): string =>
  path.replace(/\.(properties|versions\[\]|schema|openAPIV3Schema)$/, "");

const file = join(import.meta.dirname, "layout.list");

/** The layout of the previous version. */
export const previousLayout = (): readonly string[] => readFileSync(file, "utf8").trimEnd().split("\n");

/** Changes of a layout that the versions before and after it can both live with. */
export interface CompatibleChanges {
  readonly reason: string;
  /** `+` or `-`, and a line of the layout. */
  readonly changes: readonly string[];
}

/**
 * Compares two layouts. Returns what is wrong: changes of areas that have kept their version and are not declared as compatible, and
 * declared ones that are none.
 */
export function judgeChanges(
  before: readonly string[],
  after: readonly string[],
  {
    changed,
    compatible,
  }: { readonly changed: readonly Area[]; readonly compatible: readonly CompatibleChanges[] },
): readonly string[] {
  const [was, is] = [new Set(before), new Set(after)];
  const changes = [
    ...after.filter((line) => !was.has(line)).map((line) => `+ ${line}`),
    ...before.filter((line) => !is.has(line)).map((line) => `- ${line}`),
  ];
  const declared = new Set(compatible.flatMap((group) => group.changes));
  const keepsVersion = (change: string): boolean =>
    !changed.some((area) => change.slice(2).startsWith(`${area} `));
  return [
    ...changes.filter((change) => keepsVersion(change) && !declared.has(change)),
    ...[...declared].filter((change) => !changes.includes(change)).map((change) => `not a change: ${change}`),
  ];
}

if (import.meta.main) {
  writeFileSync(file, `${layoutOf(await sources(previous.commit)).join("\n")}\n`);
}
