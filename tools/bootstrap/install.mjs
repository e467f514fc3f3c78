// Are the packages that package-lock.json asks for there? npm writes what it has installed, when all of it is there,
// into node_modules/.package-lock.json; so an installation by hand counts too, and one that was cut off does not.
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./children.mjs";
import { Failure } from "./failure.mjs";
import { lockPath, withLock } from "./lock.mjs";

/** Installs what is missing. Any number of processes may ask for it at once: one does it, the others wait. */
export async function ensureInstalled(root) {
  if (await isInstalled(root)) return;
  const onWait = () => console.error("Waiting for another process that installs the packages here ...");
  await withLock(lockPath(root), { onWait }, async () => {
    if (!(await isInstalled(root))) await install(root);
  });
}

async function install(root) {
  const begun = performance.now();
  console.error("Installing the npm packages that package-lock.json names (npm ci) ...");
  await rm(recordOf(root), { force: true });
  const env = { ...process.env, NODE_ENV: "development" };
  const { code, output } = await run(
    "npm",
    ["ci", "--loglevel=error", "--include=dev", "--include=optional"],
    {
      cwd: root,
      env,
      collect: ["stdout", "stderr"],
    },
  ).catch((error) => {
    if (error.code !== "ENOENT") throw error;
    throw new Failure("npm is not on PATH. It comes with Node: https://nodejs.org");
  });
  if (code !== 0) {
    throw new Failure(
      `npm ci failed (exit code ${code}). It needs the npm registry. Its output:\n${output.trim()}`,
    );
  }
  console.error(`Installed in ${((performance.now() - begun) / 1000).toFixed(0)} s.`);
}

const recordOf = (root) => join(root, "node_modules/.package-lock.json");

async function isInstalled(root) {
  const asked = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")).packages;
  const text = await readFile(recordOf(root), "utf8").catch(() => undefined);
  if (text === undefined) return false;
  const there = JSON.parse(text).packages;
  return Object.entries(asked).every(([path, wanted]) => path === "" || isThere(wanted, there[path]));
}

/** Folders of the repository itself are the same by being there. */
function isThere(wanted, found) {
  if (found === undefined)
    return (wanted.optional === true || wanted.devOptional === true) && !isForHere(wanted);
  return (
    found.version === wanted.version && found.integrity === wanted.integrity && found.link === wanted.link
  );
}

/** Optional packages are for other systems, mostly. Which C library is here is npm's to find out. */
const isForHere = ({ os = [], cpu = [], libc }) =>
  [os].flat().includes(process.platform) && [cpu].flat().includes(process.arch) && libc === undefined;
