import { openCalledFunction } from "@drover/calls";
import type { ReconcileFunctionSpec } from "@drover/controller";
import type { NewObject } from "@drover/kube";
import { type OutsideWorld, type Scenario, successiveSandboxes } from "@drover/testing";
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { calledIn, callSecrets, localCalls, parsedUrl, webhookFunction } from "../called/called-function.ts";
import { runFunctionProcess } from "../called/function-process.ts";
import { CommandError } from "../command-error.ts";
import { readScenarios } from "./read-scenarios.ts";

export interface CalledOptions {
  /** The folder with the function's ReconcileFunction and its CRD. */
  readonly dir: string;
  /** Where the function runs. */
  readonly url?: string | undefined;
  readonly secretFile?: string | undefined;
  /** The command line that runs the function. */
  readonly run?: string | undefined;
}

/** The scenarios of a function that is called. */
export interface CalledScenarios {
  readonly scenarios: readonly Scenario[];
  close(): void;
}

/**
 * Reads scenarios, and starts the function if there is a command for that.
 *
 * @param files paths in the folder.
 * @throws CommandError
 */
export async function openCalledScenarios(
  folder: string,
  files: readonly string[],
  { dir, url, secretFile, run }: CalledOptions,
): Promise<CalledScenarios> {
  if ((url === undefined) === (run === undefined))
    throw new CommandError(
      `${files[0] ?? ""} is for a function that is called. Give the command that runs it, such as --run "python3 ` +
        'function.py", or the URL where it runs: --url URL --secret-file FILE',
    );
  const { manifest, crds } = calledIn(resolve(folder, dir));
  refuseUndefinedKind(manifest.spec, crds, dir);
  const { name, namespace = "default" } = manifest.metadata;
  const fn = webhookFunction(manifest, { name, namespace, uid });
  const kinds = [manifest.spec.for, ...(manifest.spec.owns ?? []), ...(manifest.spec.watches ?? [])];
  const written = files.flatMap((file) => readScenarios(resolve(folder, file), file, kinds));
  const process =
    run === undefined ? undefined : await runFunctionProcess(run, { audience: `${namespace}/${name}`, uid });
  const at = process?.url ?? parsedUrl(url ?? "");
  const secrets = process === undefined ? callSecrets(fn, secretFile) : [process.secret];
  const scenario: Omit<Scenario, "name" | "steps"> = {
    isCalled: true,
    crds,
    servers: successiveSandboxes,
    outside: () => Promise.resolve(reachedAt(at)),
    async start({ outside }) {
      await process?.next();
      const calls = localCalls({
        fn,
        url: new URL(at.pathname, outside["function"]),
        secrets,
        source: "/drover/test",
      });
      const { settings, controllerFor } = openCalledFunction(calls);
      return {
        controllers: [settings],
        called: {
          spec: manifest.spec,
          // The function remembers the tokens of all tests.
          controllerFor: (run) => controllerFor({ ...run, token: `test-${randomUUID()}` }),
        },
        close: () => calls.calling.agent.destroy(),
      };
    },
  };
  return { scenarios: written.map((one) => ({ ...scenario, ...one })), close: () => process?.close() };
}

/** The uid of the ReconcileFunction. */
const uid = "test";

/** The function as a server whose requests meet faults. It has no state to compare. */
const reachedAt = ({ origin }: URL): OutsideWorld => ({
  urls: { function: origin },
  state: () => Promise.resolve(undefined),
  close: () => Promise.resolve(),
});

/** @throws CommandError if the kind is neither Kubernetes' own nor defined by one of the CRDs. */
function refuseUndefinedKind(
  { for: { group, plural } }: ReconcileFunctionSpec,
  crds: readonly NewObject[],
  dir: string,
): void {
  const name = `${plural}.${group}`;
  const isBuiltin = !group.includes(".") || group.endsWith(".k8s.io");
  if (isBuiltin || crds.some(({ metadata }) => metadata.name === name)) return;
  throw new CommandError(
    `${dir} has no CustomResourceDefinition ${name}, the kind of the function. Add its manifest.`,
  );
}
