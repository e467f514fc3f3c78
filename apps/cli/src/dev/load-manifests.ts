import type { NewObject } from "@drover/kube";
import { runTied } from "@drover/local-servers";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { commandModule } from "#repository-path";
import { calledIn } from "../called/called-function.ts";
import { CommandError } from "../command-error.ts";
import { type FunctionManifest, readManifests } from "../deploy/read-manifests.ts";
import type { FunctionFolder } from "./function-folder.ts";

/** The function as it is now: its kinds, and its ReconcileFunction. */
export interface DevManifests {
  readonly crds: readonly NewObject[];
  readonly manifest: FunctionManifest;
}

/**
 * Reads the manifests of a called function. For other functions, generates them from the code, in a process of its own:
 * a module that has changed cannot be loaded again in this one.
 *
 * @param scratch a folder for temporary files.
 * @throws CommandError if the code cannot be loaded, or a manifest cannot be used.
 */
export async function loadManifests(
  { path, isCalled }: FunctionFolder,
  scratch: string,
  signal: AbortSignal,
): Promise<DevManifests> {
  if (isCalled) return calledIn(join(path, "deploy"));
  const out = await mkdtemp(join(scratch, "manifests-"));
  try {
    const args = [commandModule, "generate", "--out", out];
    await runTied(
      {
        name: "drover generate",
        command: process.execPath,
        args,
        cwd: path,
        logFile: join(out, "output"),
      },
      signal,
    );
    const { crds, functions } = readManifests(join(out, "deploy"));
    const [manifest] = functions;
    if (manifest === undefined) throw new CommandError("The code defines no function.");
    return { crds, manifest };
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof CommandError) throw cause;
    const output = await readFile(join(out, "output"), "utf8").catch(() => String(cause));
    throw new CommandError(`The function does not build.\n${output.trimEnd()}`, { cause });
  } finally {
    await rm(out, { recursive: true });
  }
}
