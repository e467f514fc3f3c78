import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Makes a folder for PATH with `sh` and nothing else; returns a function that adds a program, a shell script. */
export function programsIn(folder: string): (name: string, script: string) => void {
  symlinkSync("/bin/sh", join(folder, "sh"));
  return (name, script) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  };
}
