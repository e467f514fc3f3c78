/**
 * The images that compose would pull, made from what this machine has: Node, Valkey's binary, Python with moto. They
 * stand in for the public ones and have the same programs on their path; everything that Drover itself ships is built
 * by the same Dockerfile and the same docker-compose.yml as anywhere else.
 */
import { ensurePythonTool, findRedis, findRedis7, moto } from "@drover/local-servers";
import { globSync } from "node:fs";
import { cp, mkdir, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { z } from "zod";
import { run } from "./run.ts";

/** The images for docker-compose.yml. */
export interface LocalImages {
  readonly base: string;
  readonly valkey: string;
  readonly s3: string;
}

export interface BuildOptions {
  /** Where files are gathered; removed at the end. */
  readonly dir: string;
  /** Where buildah finds its configuration. */
  readonly env: Readonly<Record<string, string>>;
}

/** Builds them. Takes some ten seconds and half a gigabyte. */
export async function buildLocalImages(options: BuildOptions): Promise<LocalImages> {
  const base = await buildBase(options);
  const [valkey, s3] = await Promise.all([buildValkey(options, base), buildS3(options)]);
  return { base, valkey, s3 };
}

const bin = "usr/local/bin";

/** The name of the image of `buildBase`. */
export const baseImage = "localhost/drover-local/node";

/** Node and its libraries, and nothing else: what a process's image is made on. */
export async function buildBase(options: BuildOptions): Promise<string> {
  return buildImage(options, "drover-local/node", "FROM scratch\nCOPY root /\n", async (root) => {
    await copyFile(process.execPath, join(root, bin, "node"));
    await copyLibraries([process.execPath], root);
  });
}

/** The image of Valkey. The one from the Python wheel has no TLS. */
export async function buildValkey(options: BuildOptions, base: string): Promise<string> {
  const { command, description } = await findRedis();
  console.log(`Valkey: ${description}`);
  const program = command.includes("/") ? command : (await run(["which", command])).trim();
  return buildRedisServer(options, "drover-local/valkey", { base, program });
}

/** The same, with a Redis 7 in Valkey's place: it has TLS. */
export async function buildRedis7(options: BuildOptions, base: string): Promise<string> {
  const { command, description } = await findRedis7();
  console.log(`Redis: ${description}`);
  const name = "drover-local/redis-7";
  if (!command.includes("/")) {
    return buildRedisServer(options, name, { base, program: (await run(["which", command])).trim() });
  }
  // A Debian package that is unpacked in this folder, with the libraries that the system lacks.
  const usr = join(dirname(command), "usr");
  const program = join(usr, "bin/redis-server");
  return buildRedisServer(options, name, { base, program, libraries: globSync(join(usr, "lib/*"))[0] });
}

async function buildRedisServer(
  options: BuildOptions,
  name: string,
  from: { readonly base: string; readonly program: string; readonly libraries?: string | undefined },
): Promise<string> {
  const { base, program, libraries } = from;
  const file =
    `FROM ${base}\nCOPY root /\nCOPY --chown=999:999 data /data\n` +
    `ENV PATH=/${bin} LD_LIBRARY_PATH=/usr/local/lib\nWORKDIR /data\nCMD ["valkey-server"]\n`;
  return buildImage(options, name, file, async (root) => {
    await copyFile(await realpath(program), join(root, bin, "valkey-server"));
    await copyFile(resolve(import.meta.dirname, "valkey-cli.cjs"), join(root, bin, "valkey-cli"));
    await copyLibraries([program], root, libraries);
    await mkdir(join(root, "../data"));
  });
}

const pythonSchema = z.object({ executable: z.string(), stdlib: z.string(), name: z.string() });
const pythonProgram = `import json, sys, sysconfig
print(json.dumps({"executable": sys.executable, "stdlib": sysconfig.get_path("stdlib"), "name": "python%d.%d" % sys.version_info[:2]}))`;
/** Parts of Python's library that no server needs, and the packages of this machine. */
const leftOut = /^(site-packages|dist-packages|test|idlelib|tkinter|ensurepip|lib2to3|turtledemo|config-.*)$/;

/** Fetches what these images are made of, so that they can be built where there is no way out. */
export async function fetchFor(images: readonly string[]): Promise<void> {
  if (images.includes("valkey")) await findRedis();
  if (images.includes("redis-7")) await findRedis7();
  if (images.includes("s3")) await ensurePythonTool(moto);
}

export async function buildS3(options: BuildOptions): Promise<string> {
  const packages = await ensurePythonTool(moto);
  const python = pythonSchema.parse(JSON.parse(await run(["python3", "-c", pythonProgram])));
  const file =
    `FROM scratch\nCOPY root /\nENV PATH=/${bin} PYTHONPATH=/opt/moto PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1\n` +
    `ENTRYPOINT ["python", "-m", "moto.server", "-H", "0.0.0.0"]\n`;
  return buildImage(options, "drover-local/moto", file, async (root) => {
    const stdlib = join(root, "usr/local/lib", python.name);
    await copyFile(await realpath(python.executable), join(root, bin, python.name));
    await symlink(python.name, join(root, bin, "python"));
    await copyFolder(python.stdlib, stdlib, (name) => !leftOut.test(name));
    await copyFolder(packages, join(root, "opt/moto"), () => true);
    const compiled = await run(["find", stdlib, join(root, "opt/moto"), "-name", "*.so"]);
    await copyLibraries([python.executable, ...compiled.split("\n").filter(Boolean)], root);
  });
}

/** Gathers files in a folder, which is the root of the image, and makes an image of it. */
async function buildImage(
  { dir, env }: BuildOptions,
  name: string,
  dockerfile: string,
  fill: (root: string) => Promise<void>,
): Promise<string> {
  const folder = join(dir, basename(name));
  const root = join(folder, "root");
  await mkdir(join(root, bin), { recursive: true });
  await fill(root);
  const file = join(folder, "Dockerfile");
  await writeFile(file, dockerfile);
  await run(["buildah", "bud", "--quiet", "--format", "docker", "--file", file, "--tag", name, folder], {
    env,
  });
  await rm(folder, { recursive: true });
  return `localhost/${name}`;
}

/**
 * Copies the shared libraries of programs (and of libraries) to where the programs look for them.
 * @param folder of libraries that the system does not have: these go to `/usr/local/lib`.
 */
async function copyLibraries(programs: readonly string[], root: string, folder = ""): Promise<void> {
  const listed = await run(["ldd", ...programs], { env: { LD_LIBRARY_PATH: folder } });
  const libraries = new Set([...listed.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, path]) => path ?? ""));
  for (const library of libraries) {
    const isAdded = folder !== "" && library.startsWith(folder);
    const target = isAdded ? join("usr/local/lib", basename(library)) : library;
    if (!library.startsWith(root)) await copyFile(await realpath(library), join(root, target));
  }
}

async function copyFile(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await cp(from, to, { preserveTimestamps: true, force: true });
}

/** Copies what lies in a folder and is wanted. Times are kept: compiled modules depend on them. */
async function copyFolder(from: string, to: string, wanted: (name: string) => boolean): Promise<void> {
  const entries = (await readdir(from)).filter(wanted).map((name) => join(from, name));
  await mkdir(to, { recursive: true });
  await run(["cp", "--archive", ...entries, to]);
}
