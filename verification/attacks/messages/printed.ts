import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

const root = new URL("../../..", import.meta.url);

/** The output of a process until it ends. `module`: of the repository, or with `script` a program's text. */
export async function printed(
  program: { readonly module: string } | { readonly script: string },
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const args = "module" in program ? [program.module] : ["--input-type=module", "-e", program.script];
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: ".cache/compiled", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return out + err;
}

/** The first place of a canary, with what stands around it; none where there is no canary. */
export const leaks = (printed: string): readonly string[] => /.{0,60}CANARY.{0,20}/.exec(printed) ?? [];
