import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { z } from "zod";
import { CommandError } from "../command-error.ts";

const packageSchema = z.looseObject({ scripts: z.record(z.string(), z.string()).default({}) });
/** As docker prints it after a push: `0.1.0: digest: sha256:4f0c… size: 1234`. */
const pushed = /\bdigest: (sha256:[0-9a-f]{64})\b/;
const digestPattern = /^sha256:[0-9a-f]{64}$/;
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
  const digest = await (basename(builder).startsWith("podman") ? pushWithPodman : pushWithDocker)(
    folder,
    builder,
    image,
  );
  if (digest !== undefined) return `${image}@${digest}`;
  throw new CommandError(
    `${builder} names no digest of ${image} after the push. Push the image yourself, and leave --push out.`,
  );
}

// The digest of an image that is only built may differ: a push compresses its layers.
const pushWithDocker = async (folder: string, builder: string, image: string): Promise<string | undefined> =>
  pushed.exec(await runIn(folder, builder, ["push", image]))?.[1];

async function pushWithPodman(folder: string, builder: string, image: string): Promise<string | undefined> {
  const scratch = mkdtempSync(join(tmpdir(), "drover-push-"));
  try {
    const file = join(scratch, "digest");
    await runIn(folder, builder, ["push", "--digestfile", file, image]);
    const digest = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
    return digestPattern.test(digest) ? digest : undefined;
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function hasBuildScript(folder: string): boolean {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return false;
  return packageSchema.parse(JSON.parse(readFileSync(file, "utf8"))).scripts["build"] !== undefined;
}

/** Returns what the command prints; all output goes to standard error. */
async function runIn(folder: string, command: string, args: readonly string[]): Promise<string> {
  const words = [command, ...args].join(" ");
  const child = spawn(command, args, { cwd: folder, stdio: ["ignore", "pipe", 2] });
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    process.stderr.write(text);
  });
  await once(child, "close").catch((cause: unknown) => {
    throw new CommandError(
      `\`${words}\` cannot be started. Install ${command}, or name another builder with --builder, such as podman.`,
      { cause },
    );
  });
  if (child.exitCode !== 0) throw new CommandError(`\`${words}\` failed: its output is above.`);
  return output;
}
