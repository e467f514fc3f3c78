import { readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

// The bootstrap may run on Node 20, which has no fs.glob.
const FOLDERS = ["packages", "functions", "apps", "examples", "tools"];
/** Suites of their own: they need a real API server or Pods, or play a controller through all of its faults. */
const SUITES = /\.(real|pods|faults)\.test\.ts$/;
/** A module that leads to one of these starts processes: a server, or the program that it tests. */
const STARTS_PROCESSES = ["child_process", "cluster", "worker_threads"].flatMap((name) => [
  name,
  `node:${name}`,
]);

/**
 * Finds the tests that need no server: files with imports that, followed through all packages of the repository, lead to no
 * module that starts a process.
 *
 * @returns paths, relative to the root.
 */
export async function unitTests(root) {
  const listed = FOLDERS.map(async (folder) =>
    (await readdir(join(root, folder), { recursive: true })).map((file) => `${folder}/${file}`),
  );
  const files = (await Promise.all(listed))
    .flat()
    .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules/") && !SUITES.test(file));
  const starters = withImporters(await importsOf(root, files), STARTS_PROCESSES);
  return files.filter((file) => !starters.has(file)).sort();
}

/** The modules, and all modules that import one of them, directly or through others. */
function withImporters(graph, modules) {
  const importers = new Map();
  for (const [file, imports] of graph)
    for (const module of imports) importers.set(module, [...(importers.get(module) ?? []), file]);
  const found = new Set(modules);
  for (const module of found) for (const importer of importers.get(module) ?? []) found.add(importer);
  return found;
}

/** The imports of every module that the files lead to, by path. Foreign packages are not followed. */
async function importsOf(root, files) {
  const { build } = createRequire(join(root, "package.json"))("esbuild");
  const { metafile } = await build({
    stdin: { contents: files.map((file) => `import "./${file}";`).join("\n"), resolveDir: root },
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
    plugins: [foreignPackages],
  });
  return new Map(
    Object.entries(metafile.inputs).map(([file, { imports }]) => [file, imports.map(({ path }) => path)]),
  );
}

/** Leaves imports alone that are neither paths nor packages of the repository. */
const foreignPackages = {
  name: "foreign packages",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./]/ }, ({ path }) =>
      /^(@drover|drover)\//.test(`${path}/`) ? undefined : { path, external: true },
    ),
};
