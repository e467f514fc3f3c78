/**
 * Bundles processes of the previous version of Drover, which previous.json names by its commit, to run them beside present ones:
 *
 *     npx node tools/previous-version/build-previous.ts bridge deployer gateway
 *
 * The sources come from this clone's history, into `.cache/previous`, and are bundled by their own infra/bundle.ts. Libraries of
 * others are those of the present node_modules.
 */
import type { bundle as presentBundle } from "../../infra/bundle.ts";
import { execFile } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
} from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { pathToFileURL } from "node:url";
import { z } from "zod";

const root = resolve(import.meta.dirname, "../..");
const run = promisify(execFile);

const previousSchema = z.strictObject({
  version: z.string(),
  commit: z.string().regex(/^[0-9a-f]{40}$/),
  /** The versions of its data in Redis, of the contract with functions that are called, and of its kinds. */
  data: z.strictObject({ ledger: z.int(), index: z.int() }),
  contract: z.string(),
  kinds: z.string(),
});
export const previous = previousSchema.parse(
  JSON.parse(readFileSync(join(import.meta.dirname, "previous.json"), "utf8")),
);

/** A process to bundle: one that infra/bundle.ts knows, or one that a file of the present sources starts. */
export interface WantedBundle {
  readonly name: string;
  /** Files of the present tree that the previous one gets, relative to the root. The first one starts the process. */
  readonly files?: readonly string[];
}

/**
 * @param commit another one than that of previous.json.
 * @returns the bundles' files, by name.
 */
export async function buildPrevious(
  wanted: readonly WantedBundle[],
  commit = previous.commit,
): Promise<ReadonlyMap<string, string>> {
  const folder = await sources(commit);
  const { bundle } = bundleModule.parse(await import(pathToFileURL(join(folder, "infra/bundle.ts")).href));
  const files = new Map<string, string>();
  for (const { name, files: [entry, ...others] = [] } of wanted) {
    for (const file of entry === undefined ? [] : [entry, ...others]) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      copyFileSync(join(root, file), join(folder, file));
    }
    files.set(name, (await bundle(name, ...(entry === undefined ? [] : [entry]))).file);
  }
  return files;
}

const bundleModule = z.object({
  bundle: z.custom<typeof presentBundle>((value) => typeof value === "function"),
});

/** The commit of a revision of this clone, such as `HEAD`. */
export async function commitOf(revision: string): Promise<string> {
  const words = ["-C", root, "rev-parse", "--verify", "--end-of-options", `${revision}^{commit}`];
  const { stdout } = await run("git", words).catch((cause: unknown) => {
    throw new Error(`This clone has no commit ${revision}. If it is shallow: git fetch --unshallow`, {
      cause,
    });
  });
  return stdout.trim();
}

/** The folder of its sources, with node_modules that lead to its own packages. */
export async function sources(commit: string): Promise<string> {
  const folder = join(root, ".cache/previous", `${commit}-renamed`);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const archive = `${unfinished}.tar`;
  // Without its tests, which runners of tests would find.
  const wanted = [commit, "--", ".", ":(exclude,glob)**/*.test.ts"];
  await run("git", ["-C", root, "archive", `--output=${archive}`, ...wanted]).catch((cause: unknown) => {
    const hint = `The commit ${commit} is not in this clone: git fetch --unshallow`;
    throw new Error(hint, { cause });
  });
  await run("tar", ["--extract", `--file=${archive}`, `--directory=${unfinished}`]);
  await rm(archive);
  // So that no script of its ledger has the name of a present one, as after a change of them all.
  appendFileSync(join(unfinished, "packages/queue/src/redis/lua/guard.lua"), "-- of another version\n");
  linkModules(unfinished);
  await rename(unfinished, folder);
  return folder;
}

const namedSchema = z.looseObject({ name: z.string() });

function linkModules(folder: string): void {
  const from = join(root, "node_modules");
  const to = join(folder, "node_modules");
  const own = new Map(
    globSync("{packages,functions,apps,examples,tools}/*/package.json", { cwd: folder }).map((file) => [
      namedSchema.parse(JSON.parse(readFileSync(join(folder, file), "utf8"))).name,
      dirname(file),
    ]),
  );
  mkdirSync(join(to, "@drover"), { recursive: true });
  for (const name of readdirSync(from))
    if (name !== "@drover" && !own.has(name)) symlinkSync(relative(to, join(from, name)), join(to, name));
  for (const [name, path] of own) {
    const up = name.startsWith("@") ? "../.." : "..";
    symlinkSync(join(up, path), join(to, name));
  }
}

if (import.meta.main) {
  const files = await buildPrevious(process.argv.slice(2).map((name) => ({ name })));
  for (const [name, file] of files) console.log(`${previous.version}  ${name}  ${file}`);
}
