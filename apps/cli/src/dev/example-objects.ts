import { messageOf } from "@drover/controller";
import { resourceNameOf } from "@drover/kube";
import type { Manifest, User } from "@drover/testing";
import { globSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { z } from "zod";
import { CommandError } from "../command-error.ts";
import { readDocuments } from "../test/read-documents.ts";
import type { Story } from "./story.ts";

/** The example objects of a session: those of YAML files, applied again when a file has changed. */
export interface ExampleObjects {
  /** True for a path, relative to the function's folder, of an example. */
  has(path: string): boolean;
  /**
   * Applies the objects of these files, or of all. An object that is no longer in its file stays in the API server, and
   * the command that deletes it is printed. An object that the API server refuses is reported, and the others are applied.
   */
  apply(paths?: readonly string[]): Promise<void>;
  /** The files with an object that was refused: the kind may have changed since. */
  refused(): readonly string[];
}

/** Applies objects, as kubectl does. */
export type ExampleUser = Pick<User, "kind" | "get" | "apply">;

const examplePaths = ["example{,s}*.{yaml,yml}", "examples/**/*.{yaml,yml}"];
const isScenario = /\.faults\.ya?ml$/;

const manifestSchema = z.looseObject({
  apiVersion: z.string().min(1),
  kind: z.string().min(1),
  metadata: z.looseObject({ name: z.string().min(1), namespace: z.string().exactOptional() }),
});

/** Definitions of kinds and namespaces come before what needs them. */
const isFirst = ({ kind }: Manifest): boolean => kind === "CustomResourceDefinition" || kind === "Namespace";

/**
 * @param given absolute paths of files; if empty, `example*.yaml` and `examples/` of the function's folder.
 */
export function exampleObjects(
  folder: string,
  given: readonly string[],
  { user, story }: { readonly user: ExampleUser; readonly story: Story },
): ExampleObjects {
  const paths = (): readonly string[] =>
    given.length === 0 ? usual(folder) : given.map((file) => relative(folder, file));
  /** By the file's path: what it had when it was last applied, by words for people. */
  const applied = new Map<string, ReadonlyMap<string, string>>();
  const refused = new Set<string>();
  const applyFile = async (path: string): Promise<void> => {
    const before = applied.get(path) ?? new Map<string, string>();
    const now = new Map<string, string>();
    for (const manifest of manifestsIn(folder, path).toSorted((a, b) => +isFirst(b) - +isFirst(a))) {
      const { kind, metadata } = manifest;
      const name = `${kind} ${[metadata.namespace, metadata.name].filter(Boolean).join("/")}`;
      try {
        const { plural, removal } = await applyOne(user, manifest, (did) =>
          story.print(`${path}: ${name} ${did}`),
        );
        now.set(`${plural} ${name}`, removal);
      } catch (error) {
        refused.add(path);
        story.print(`${path}: ${name} is refused. ${messageOf(error)}`);
        // It may be there as it was applied before.
        for (const [key, removal] of before) if (key.endsWith(` ${name}`)) now.set(key, removal);
      }
    }
    applied.set(path, now);
    for (const [key, removal] of before)
      if (!now.has(key))
        story.print(
          `${key.slice(key.indexOf(" ") + 1)} is no longer in ${path}, and stays. To delete it: ${removal}`,
        );
  };
  return {
    refused: () => [...refused],
    has: (path) => applied.has(path) || paths().includes(path),
    async apply(of = paths()) {
      for (const path of of) {
        refused.delete(path);
        // A file that cannot be read says nothing about its objects.
        await applyFile(path).catch((error: unknown) => story.print(messageOf(error)));
      }
    },
  };
}

const usual = (folder: string): readonly string[] =>
  globSync(examplePaths, { cwd: folder })
    .filter((path) => !isScenario.test(path))
    .sort();

/** The absolute paths of an example, or of those in a folder. @throws CommandError if it does not exist. */
export function exampleFilesAt(path: string): readonly string[] {
  const absolute = resolve(path);
  const stat = statSync(absolute, { throwIfNoEntry: false });
  if (stat === undefined) throw new CommandError(`--example ${path}: there is no such file or folder.`);
  if (!stat.isDirectory()) return [absolute];
  return globSync("**/*.{yaml,yml}", { cwd: absolute })
    .map((file) => join(absolute, file))
    .sort();
}

/** None if the file is gone. */
function manifestsIn(folder: string, path: string): readonly Manifest[] {
  const file = resolve(folder, path);
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return [];
  return readDocuments(file, path).map((document) => document.checked(manifestSchema, document.value));
}

/** Returns the kind's plural, and the command that deletes the object. */
async function applyOne(
  user: ExampleUser,
  manifest: Manifest,
  onChange: (did: "created" | "changed") => void,
): Promise<{ readonly plural: string; readonly removal: string }> {
  const { namespace, name } = manifest.metadata;
  const ref = await user.kind(manifest);
  const there = await user.get(manifest, [namespace, name].filter(Boolean).join("/"));
  const { metadata } = await user.apply(manifest);
  if (there === undefined) onChange("created");
  else if (there.metadata.resourceVersion !== metadata.resourceVersion) onChange("changed");
  const where = metadata.namespace === undefined ? "" : ` -n ${metadata.namespace}`;
  return { plural: resourceNameOf(ref), removal: `kubectl delete${where} ${resourceNameOf(ref)} ${name}` };
}
