import { spawnTied, waitUntilReady } from "@drover/local-servers";
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { containerdSocket, pauseImage, podRange, registryAddress } from "./layout.ts";
import { writePauseImage } from "./pause-image.ts";

const ctr = (...args: readonly string[]) =>
  promisify(execFile)("ctr", ["--address", containerdSocket, "--namespace", "k8s.io", ...args]);

/** Starts containerd, with the image that every pod starts with; it pulls all others from the registry here. */
export async function startContainerRuntime({ bin, dir }: { bin: string; dir: string }): Promise<void> {
  const folder = join(dir, "containerd");
  await mkdir(join(folder, "registries/_default"), { recursive: true });
  await mkdir(join(folder, "networks"), { recursive: true });
  await writeFile(join(folder, "crun"), '#!/bin/sh\nexec crun --cgroup-manager=disabled "$@"\n', {
    mode: 0o755,
  });
  await writeFile(join(folder, "registries/_default/hosts.toml"), registries);
  await writeFile(join(folder, "networks/10-pods.conflist"), JSON.stringify(podNetwork));
  await writeFile(join(folder, "config.toml"), config(folder));
  const containerd = await spawnTied({
    name: "containerd",
    command: "containerd",
    args: ["--config", join(folder, "config.toml")],
    cwd: dir,
    logFile: join(dir, "containerd.log"),
  });
  const [archive] = await Promise.all([
    writePauseImage({ bin, dir }),
    waitUntilReady(containerd, () =>
      ctr("version").then(
        () => true,
        () => false,
      ),
    ),
  ]);
  await ctr("images", "import", archive);
}

/** Every image is asked for here, whatever its name; elsewhere there is nothing. */
const registries = `server = "http://${registryAddress}"
[host."http://${registryAddress}"]
capabilities = ["pull", "resolve"]
`;

/** A bridge for all pods, with a way to the node and none out of it. */
const podNetwork = {
  cniVersion: "0.4.0",
  name: "pods",
  plugins: [
    {
      type: "bridge",
      bridge: "pods0",
      isGateway: true,
      ipMasq: false,
      hairpinMode: true,
      ipam: {
        type: "host-local",
        dataDir: "/run/cni",
        ranges: [[{ subnet: podRange }]],
        routes: [{ dst: "0.0.0.0/0" }],
      },
    },
  ],
};

/** Nothing here limits memory, CPU or processes: that would take cgroups of our own. */
const config = (folder: string) => `version = 2
root = "${folder}/root"
state = "/run/containerd"
disabled_plugins = [${["aufs", "btrfs", "devmapper", "zfs"].map((name) => `"io.containerd.snapshotter.v1.${name}"`).join(", ")}, "io.containerd.internal.v1.opt"]
[grpc]
address = "${containerdSocket}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "${pauseImage}"
stream_server_address = "127.0.0.1"
disable_cgroup = true
disable_apparmor = true
disable_hugetlb_controller = true
restrict_oom_score_adj = true
tolerate_missing_hugetlb_controller = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "${folder}/networks"
[plugins."io.containerd.grpc.v1.cri".registry]
config_path = "${folder}/registries"
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "overlayfs"
default_runtime_name = "crun"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun.options]
BinaryName = "${folder}/crun"
SystemdCgroup = false
`;
