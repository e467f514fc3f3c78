import { goEnvironment } from "@drover/local-servers";
import { join } from "node:path";
import { built, builtFrom, cacheFolder } from "./built.ts";

/**
 * Builds the Go program of a folder unless it is there, and gives its path. The first build takes a minute or two, and
 * Go's module proxy.
 *
 * @throws when Go is missing, or the build fails: the message carries the compiler's last lines
 */
export async function goProgram(
  name: string,
  moduleFolder: string,
  log: (line: string) => void,
): Promise<string> {
  const folder = await builtFrom(moduleFolder, name, async (temporary) => {
    log(`building the Go program of ${name}`);
    await built({
      // It takes every core, so it gives way to other processes.
      command: "nice",
      args: [
        ...["-n", "10", "go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w"],
        ...["-o", join(temporary, name), "."],
      ],
      cwd: moduleFolder,
      env: goEnvironment,
      logFile: join(cacheFolder, name, "build.log"),
      needs: "Go (https://go.dev/dl) and Go's module proxy",
    });
    return temporary;
  });
  return join(folder, name);
}
