import { join } from "node:path";
import { containerEnvironment } from "./container-environment.ts";
import { expandReferences } from "./expand-references.ts";
import type { Image } from "../images.ts";
import type { Container, NodePod } from "../pods/pod.ts";
import type { References } from "./references.ts";

/** A container as a process. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  /** The complete environment of the process; `undefined` removes a variable of the node. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string | undefined;
}

export interface LaunchOptions {
  readonly container: Container;
  readonly pod: NodePod;
  readonly address: string;
  readonly image: Image;
  /** Variables that the node gives to every container, under the image's and the container's own. */
  readonly nodeEnv: Readonly<Record<string, string>>;
  readonly references: References;
  /** Where the pod's volumes are. */
  readonly volumes: string;
}

/** The process of a container. @throws MissingReferenceError if it refers to something that does not exist yet. */
export async function launchOf(parts: LaunchOptions): Promise<Launch> {
  const { container, pod, address, image, nodeEnv, references } = parts;
  const own = await containerEnvironment(container, pod, address, references);
  const real = mountResolver(parts);
  const words = (list: readonly string[]) => list.map((word) => real(expandReferences(word, own)));
  const entry = container.command.length > 0 ? words(container.command) : image.command;
  const given = words(container.args);
  const args = given.length > 0 || container.command.length > 0 ? given : image.args;
  const [command = "", ...first] = entry;
  const env = [...own].map(([name, value]) => [name, real(value)] as const);
  const workingDir = real(container.workingDir) || image.workingDir;
  const path = process.env["PATH"] ?? "/usr/bin:/bin";
  return {
    command,
    args: [...first, ...args],
    env: {
      ...withoutNodeVariables(),
      PATH: path,
      HOSTNAME: pod.name,
      ...nodeEnv,
      ...image.env,
      ...Object.fromEntries(env),
    },
    cwd: workingDir,
  };
}

/** A container sees nothing of the node's own environment. */
const withoutNodeVariables = (): Record<string, undefined> =>
  Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));

/**
 * There are no mounts here: a value that is a mount's path, or begins with it and a slash, is given the real folder.
 * Of nested mounts the deepest counts.
 */
function mountResolver({ container, volumes }: LaunchOptions): (value: string) => string {
  const mounts = container.volumeMounts
    .map(({ name, mountPath, subPath }) => ({
      at: mountPath.replace(/\/+$/, ""),
      folder: join(volumes, name, subPath),
    }))
    .sort((a, b) => b.at.length - a.at.length);
  return (value) => {
    const mount = mounts.find(({ at }) => value === at || value.startsWith(`${at}/`));
    return mount === undefined ? value : mount.folder + value.slice(mount.at.length);
  };
}
