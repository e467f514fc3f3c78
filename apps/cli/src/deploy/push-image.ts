import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { CommandError } from "../command-error.ts";

const packageSchema = z.looseObject({ scripts: z.record(z.string(), z.string()).default({}) });
const digestsSchema = z.array(z.string());
/** A name with an optional tag: `registry.example.com:5000/team/greetings:0.1.0`. */
const name = /^[a-z0-9][\w.-]*(?::\d+)?(?:\/[\w.-]+)*?(?::[\w.-]+)?$/i;

export interface ImageToPush {
  /** The folder with the Dockerfile. */
  readonly folder: string;
  readonly image: string;
  /** `docker`, or a program with the same commands, such as `podman`. */
  readonly builder: string;
}

/**
 * Builds a function's image with the Dockerfile of its folder, after `npm run build` if the folder has such a script, and pushes it.
 *
 * @returns the image with its digest: a tag may be pushed again, and Pods would keep the image that they have.
 */
export async function pushImage({ folder, image, builder }: ImageToPush): Promise<string> {
  if (!name.test(image))
    throw new CommandError(
      `${JSON.stringify(image)} is not the name of an image. Give one such as registry.example.com/greetings:0.1.0, without a digest.`,
    );
  if (!existsSync(join(folder, "Dockerfile")))
    throw new CommandError(
      `There is no Dockerfile in ${folder}. Run this in the folder of the function; \`npx drover generate\` writes the file.`,
    );
  if (hasBuildScript(folder)) await runIn(folder, "npm", ["run", "build"]);
  await runIn(folder, builder, ["build", "--tag", image, "."]);
  await runIn(folder, builder, ["push", image]);
  const words = ["image", "inspect", "--format", "{{json .RepoDigests}}", image];
  const { stdout } = await promisify(execFile)(builder, words, { cwd: folder });
  const repository = image.replace(/:[^/:]+$/, "");
  const found = digestsSchema.parse(JSON.parse(stdout)).find((one) => one.startsWith(`${repository}@`));
  if (found !== undefined) return `${image}${found.slice(repository.length)}`;
  throw new CommandError(
    `${builder} names no digest of ${image} after the push. Look at \`${builder} image inspect ${image}\`; or push the image yourself, and leave --push out.`,
  );
}

function hasBuildScript(folder: string): boolean {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return false;
  return packageSchema.parse(JSON.parse(readFileSync(file, "utf8"))).scripts["build"] !== undefined;
}

/** The output goes to standard error. */
async function runIn(folder: string, command: string, args: readonly string[]): Promise<void> {
  const words = [command, ...args].join(" ");
  const child = spawn(command, args, { cwd: folder, stdio: ["ignore", 2, 2] });
  await once(child, "close").catch((cause: unknown) => {
    throw new CommandError(
      `\`${words}\` cannot be started. Install ${command}, or name another builder with --builder, such as podman.`,
      { cause },
    );
  });
  if (child.exitCode !== 0) throw new CommandError(`\`${words}\` failed: its output is above.`);
}
