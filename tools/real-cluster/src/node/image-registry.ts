import { answersOk, spawnTied, waitUntilReady } from "@drover/local-servers";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { registryAddress } from "./layout.ts";

/** Starts an image registry, empty, over plain HTTP. Every process of the cluster may push to it. */
export async function startImageRegistry({ bin, dir }: { bin: string; dir: string }): Promise<void> {
  const file = join(dir, "registry.json");
  const config = {
    version: "0.1",
    log: { level: "warn" },
    storage: { filesystem: { rootdirectory: join(dir, "registry") } },
    http: { addr: registryAddress },
  };
  await writeFile(file, JSON.stringify(config));
  const registry = await spawnTied({
    name: "registry",
    command: join(bin, "registry"),
    args: ["serve", file],
    cwd: dir,
    env: { OTEL_TRACES_EXPORTER: "none" },
    logFile: join(dir, "registry.log"),
  });
  const [host = "", port = ""] = registryAddress.split(":");
  await waitUntilReady(registry, () => answersOk({ host, port, path: "/v2/" }));
}
