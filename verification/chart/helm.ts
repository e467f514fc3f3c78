import { buildHelm } from "@drover/real-cluster";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { root } from "../harness/repository-files.ts";

export const chart = join(root, "infra/chart");

const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});
export type RenderedManifest = z.output<typeof manifestSchema>;

/** Objects of a text, as kubectl reads them: 0440 is octal. */
export const manifestsIn = (text: string): readonly RenderedManifest[] =>
  parseAllDocuments(text, { version: "1.1" }).flatMap((document) => {
    const content: unknown = document.toJS();
    return content === null ? [] : [manifestSchema.parse(content)];
  });

export interface Helm {
  /** The program. */
  readonly command: string;
  /** Runs a command. Rejects with its errors. */
  run(...args: readonly string[]): Promise<string>;
  /** What `helm template` prints. */
  template(values: object, ...args: readonly string[]): Promise<string>;
}

/** @param folder for files of Helm itself. @param kubeconfig of the cluster to install to. */
export async function openHelm(folder: string, kubeconfig = "/dev/null"): Promise<Helm> {
  const command = await buildHelm();
  const env = {
    ...process.env,
    ...Object.fromEntries(["CACHE", "CONFIG", "DATA"].map((name) => [`HELM_${name}_HOME`, folder])),
    KUBECONFIG: kubeconfig,
  };
  const run = async (...args: readonly string[]): Promise<string> =>
    (await promisify(execFile)(command, args, { env, maxBuffer: 2 ** 26 })).stdout;
  return {
    command,
    run,
    template: (values, ...args) =>
      run("template", "drover", chart, "--namespace=drover", `--set-json=${setJson(values)}`, ...args),
  };
}

/** Values as the argument of `--set-json`. */
export const setJson = (values: object): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(",");
