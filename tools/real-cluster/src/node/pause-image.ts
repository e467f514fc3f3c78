import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { pauseImage } from "./layout.ts";

/**
 * Writes the image of every pod's first process, as an archive such as `docker save` makes, and gives its path. By
 * hand, for nothing else in a cluster needs a tool that builds images.
 */
export async function writePauseImage({ bin, dir }: { bin: string; dir: string }): Promise<string> {
  const folder = join(dir, "pause-image");
  const archive = join(dir, "pause-image.tar");
  await mkdir(join(folder, "root"), { recursive: true });
  await copyFile(join(bin, "pause"), join(folder, "root/pause"));
  await tar("-cf", join(folder, "layer.tar"), "-C", join(folder, "root"), "pause");
  const layer = createHash("sha256").update(await readFile(join(folder, "layer.tar")));
  const config = {
    architecture: process.arch === "x64" ? "amd64" : process.arch,
    os: "linux",
    config: { Entrypoint: ["/pause"], User: "65535:65535" },
    rootfs: { type: "layers", diff_ids: [`sha256:${layer.digest("hex")}`] },
  };
  const manifest = [{ Config: "config.json", RepoTags: [pauseImage], Layers: ["layer.tar"] }];
  await writeFile(join(folder, "config.json"), JSON.stringify(config));
  await writeFile(join(folder, "manifest.json"), JSON.stringify(manifest));
  await tar("-cf", archive, "-C", folder, "manifest.json", "config.json", "layer.tar");
  await rm(folder, { recursive: true });
  return archive;
}

const tar = (...args: readonly string[]) =>
  promisify(execFile)("tar", ["--owner=0", "--group=0", "--numeric-owner", ...args]);
