import { answersOk, spawnTied, waitUntilReady } from "@drover/local-servers";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The port of `/ready`, which answers 200 once it has listed all Services. */
const readyPort = 8181;

/**
 * Starts CoreDNS, on every address of the node. It answers for `cluster.local`, that is for Services and the pods behind them,
 * and refuses all other names: there is nothing that they could lead to.
 */
export async function startNameServer(options: {
  readonly bin: string;
  readonly dir: string;
  readonly kubeconfig: string;
}): Promise<void> {
  const { bin, dir, kubeconfig } = options;
  const file = join(dir, "Corefile");
  await writeFile(file, corefile(kubeconfig));
  const server = await spawnTied({
    name: "dns",
    command: join(bin, "dns"),
    args: ["-conf", file],
    cwd: dir,
    logFile: join(dir, "dns.log"),
  });
  await waitUntilReady(server, () => answersOk({ host: "127.0.0.1", port: readyPort, path: "/ready" }));
}

// A Service that was asked for too early is there a second later.
const corefile = (kubeconfig: string) => `.:53 {
  errors
  ready 127.0.0.1:${readyPort}
  cache 1
  kubernetes cluster.local {
    kubeconfig ${JSON.stringify(kubeconfig)}
    ttl 1
  }
}
`;
