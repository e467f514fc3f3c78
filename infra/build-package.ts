/**
 * Builds the npm package `drover` into dist/drover: what `npm publish ./dist/drover` publishes.
 *
 *     node infra/build-package.ts [--repository URL]
 *
 * The entries of packages/drover and the command of apps/cli become JavaScript, with shared chunks, so that each class is there
 * once, whichever entries a program imports. The packages of this repository are inside, declarations too; foreign libraries stay
 * dependencies, with the versions that the packages name.
 */
import { build, type Metafile } from "esbuild";
import { globSync, readFileSync } from "node:fs";
import { chmod, cp, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import { z } from "zod";
import { calledSources, template } from "../apps/cli/src/init/sources.ts";

const root = resolve(import.meta.dirname, "..");
const source = join(root, "packages/drover");
const command = "apps/cli/bin/drover.mjs";

/**
 * Installed by the user, once for all packages: a user's schemas are given to Drover, and Drover recognizes the errors of the
 * user's AWS clients by their class. Those of AWS are only needed by `drover/aws`.
 */
const peers = [
  { name: "zod", optional: false },
  { name: "@aws-sdk/credential-providers", optional: true },
  { name: "@smithy/core", optional: true },
];

const versions = z.record(z.string(), z.string()).default({});
const manifestSchema = z.looseObject({ private: z.boolean(), exports: versions, dependencies: versions });
const readManifest = (file: string) => manifestSchema.parse(JSON.parse(readFileSync(file, "utf8")));

export interface PackageOptions {
  /** The folder of the package, which is replaced. Default: dist/drover. */
  readonly folder?: string;
  /** If false, TypeScript cannot use the package: a test that only runs it is faster. */
  readonly declarations?: boolean;
  /** The URL of the Git repository, for the manifest: npm compares it with the one that provenance names. */
  readonly repository?: string | undefined;
}

/** @returns the folder of the package. */
export async function buildPackage({
  folder = join(root, "dist/drover"),
  declarations = true,
  repository,
}: PackageOptions = {}): Promise<string> {
  const { private: _, dependencies: __, exports, ...manifest } = readManifest(join(source, "package.json"));
  const entries = Object.entries(exports)
    .filter(([, file]) => file.endsWith(".ts"))
    .map(([subpath, file]) => ({ subpath, name: nameOf(subpath), file: join(source, file) }));
  const modules = Object.fromEntries(entries.map(({ name, file }) => [name, file]));
  const lib = join(folder, "lib");
  await rm(folder, { recursive: true, force: true });
  const { metafile } = await bundleModules({ ...modules, command: join(root, command) }, lib);
  await chmod(join(lib, "command.js"), 0o755);
  const typed = declarations ? await bundleDeclarations(modules, lib) : [];
  await copyFiles(folder);
  const built = entries.map(
    ({ subpath, name }) => [subpath, { types: `./lib/${name}.d.ts`, default: `./lib/${name}.js` }] as const,
  );
  const published = {
    ...manifest,
    ...(repository !== undefined && { repository: { type: "git", url: repository } }),
    bin: { drover: "./lib/command.js" },
    exports: { ...exports, ...Object.fromEntries(built) },
    ...dependenciesOf(new Set([...externalsOf(metafile), ...typed])),
  };
  await writeFile(join(folder, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
  return folder;
}

/** `./testing/fault-proxy` -> `testing-fault-proxy`. */
const nameOf = (subpath: string): string =>
  subpath === "." ? "index" : subpath.slice(2).replaceAll("/", "-");

/** Bundles modules, by the names of their files, into a folder; foreign libraries stay imports. */
export const bundleModules = (modules: Readonly<Record<string, string>>, folder: string) =>
  build({
    absWorkingDir: root,
    entryPoints: modules,
    outdir: folder,
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    platform: "node",
    target: "node24",
    format: "esm",
    // The Lua files are inside, and the files of `drover init` beside: see `imports` in the packages' package.json.
    conditions: ["drover-bundle"],
    loader: { ".lua": "text" },
    plugins: [
      {
        name: "foreign libraries stay imports",
        setup: (bundling) =>
          bundling.onResolve({ filter: /^[^./#]/ }, ({ path, kind }) =>
            kind === "entry-point" || isOurs(path) ? undefined : { path, external: true },
          ),
      },
    ],
    sourcemap: true,
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });

/** @returns the modules that the declarations import. */
async function bundleDeclarations(
  modules: Readonly<Record<string, string>>,
  folder: string,
): Promise<readonly string[]> {
  const bundling = await rolldown({
    cwd: root,
    input: modules,
    checks: { bundlerTimings: false },
    external: (id) => !isOurs(id) && !/^[./#]/.test(id),
    plugins: [
      dts({
        cwd: root,
        tsconfig: join(root, "tsconfig.json"),
        tsconfigRaw: { include: ["packages/*/src"], exclude: ["**/*.test.ts"] },
        emitDtsOnly: true,
        // TypeScript then takes the packages of this repository for sources, and not for the content of node_modules.
        eager: true,
      }),
    ],
  });
  const { output } = await bundling.write({ dir: folder, format: "es" });
  await bundling.close();
  return output.flatMap((file) => (file.type === "chunk" ? file.imports : [])).filter(isLibrary);
}

/** Copies the texts about the package, and the files that `drover init` copies. */
async function copyFiles(folder: string): Promise<void> {
  for (const file of ["README.md", "CHANGELOG.md"]) await cp(join(source, file), join(folder, file));
  for (const file of ["LICENSE", "NOTICE"]) await cp(join(root, file), join(folder, file));
  const sources = [
    template,
    ...Object.values(calledSources).flatMap(({ sdk, examples }) => [sdk, ...examples]),
  ];
  for (const path of new Set(sources)) {
    const filter = (file: string): boolean => !/node_modules|__pycache__/.test(file);
    await cp(join(root, path), join(folder, "files", path), { recursive: true, filter });
  }
}

const isOurs = (id: string): boolean => /^(@drover|drover)(\/|$)/.test(id);
const isLibrary = (id: string): boolean => !/^([./#]|node:)/.test(id) && !isOurs(id) && !id.endsWith(".d.ts");

const externalsOf = ({ outputs }: Metafile): readonly string[] =>
  Object.values(outputs).flatMap(({ imports }) =>
    imports.filter(({ path, external }) => external === true && isLibrary(path)).map(({ path }) => path),
  );

/** The libraries that are imported, with the versions that the packages of this repository name. */
function dependenciesOf(imported: ReadonlySet<string>) {
  const known = new Map(
    globSync("{packages,apps}/*/package.json", { cwd: root }).flatMap((file) =>
      Object.entries(readManifest(join(root, file)).dependencies),
    ),
  );
  const names = [...new Set([...imported].map(libraryOf))].sort();
  const version = (name: string): string => {
    const found = known.get(name);
    if (found === undefined)
      throw new Error(`Add ${name} to the package.json of the package that imports it.`);
    return found;
  };
  return {
    dependencies: Object.fromEntries(
      names.filter((name) => !peers.some((peer) => peer.name === name)).map((name) => [name, version(name)]),
    ),
    peerDependencies: Object.fromEntries(peers.map(({ name }) => [name, `^${version(name)}`])),
    peerDependenciesMeta: Object.fromEntries(
      peers.filter(({ optional }) => optional).map(({ name }) => [name, { optional: true }]),
    ),
  };
}

/** `@smithy/core/schema` -> `@smithy/core`. */
const libraryOf = (id: string): string => id.split("/", id.startsWith("@") ? 2 : 1).join("/");

if (import.meta.main) {
  const { values } = parseArgs({ options: { repository: { type: "string" } } });
  console.log(await buildPackage({ repository: values.repository }));
}
