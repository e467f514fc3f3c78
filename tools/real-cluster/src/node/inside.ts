// The part of a cluster with a node that runs inside its namespaces: `inside.ts OPTIONS`. It starts everything, prints
// one line, and stays; when it ends, everything else ends, too.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { writeKubeconfig, writeKubectl } from "../client-files.ts";
import { createPki } from "../pki.ts";
import { startContainerRuntime } from "./container-runtime.ts";
import { startControlPlane } from "./control-plane.ts";
import { answerControllers } from "./controllers-socket.ts";
import { startImageRegistry } from "./image-registry.ts";
import { openDoor } from "./door.ts";
import { type InsideOptions, insideOptions, readyLine } from "./inside-options.ts";
import { apiServerPort, controllersName, doorName, nodeName } from "./layout.ts";
import { startNameServer } from "./name-server.ts";
import { startNode } from "./node.ts";
import { setUpPrivateMachine } from "./private-machine.ts";

const patience = "--timeout=120s";

await start(insideOptions.parse(JSON.parse(process.argv[2] ?? "")));
console.log(readyLine);

async function start({ bin, dir, apiServerArgs }: InsideOptions): Promise<void> {
  await setUpPrivateMachine(dir);
  await openDoor(join(dir, doorName));
  const pki = await createPki({ bin, dir });
  const url = `https://127.0.0.1:${apiServerPort}`;
  const plane = { bin, dir, pki, url };
  const kubeconfig = await writeKubeconfig(dir, url, pki);
  const kubectl = await writeKubectl(dir, { bin, kubeconfig });
  const [manager] = await Promise.all([
    startControlPlane(plane, apiServerArgs),
    startContainerRuntime({ bin, dir }),
    startImageRegistry({ bin, dir }),
  ]);
  await Promise.all([
    startNameServer({ bin, dir, kubeconfig }),
    startNode(plane),
    untilPodsAreTaken(kubectl),
    answerControllers(join(dir, controllersName), manager),
  ]);
}

/** Pods need a node, and a ServiceAccount even when they name none. */
async function untilPodsAreTaken(kubectl: string): Promise<void> {
  const wait = (...args: readonly string[]) => promisify(execFile)(kubectl, ["wait", patience, ...args]);
  await wait("--for=create", `node/${nodeName}`);
  await Promise.all([
    wait("--for=condition=Ready", `node/${nodeName}`),
    wait("--for=create", "serviceaccount/default"),
  ]);
}
