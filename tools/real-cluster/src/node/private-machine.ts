import { execFile } from "node:child_process";
import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { nodeAddress } from "./layout.ts";

const run = async (command: string, ...args: readonly string[]): Promise<void> => {
  await promisify(execFile)(command, args);
};

/**
 * Readies the namespaces that we are in to be a machine of their own: what a node's programs write to the system goes
 * to private mounts, and nothing leads out of the network. Files are kept in `dir`.
 */
export async function setUpPrivateMachine(dir: string): Promise<void> {
  await Promise.all([setUpNetwork(), hideCgroups(), hideKernelSettings(dir), askOurNameServer(dir)]);
  await run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run");
  const [upper, work] = ["/run/var/upper", "/run/var/work"];
  for (const folder of ["/run/netns", "/run/lock", upper, work]) await mkdir(folder, { recursive: true });
  // kubelet and the network plugins have fixed folders in /var.
  const folders = `lowerdir=/var,upperdir=${upper},workdir=${work}`;
  await run("mount", "-t", "overlay", "overlay", "-o", folders, "/var");
  // Between the node and its containers, that is: the namespace's own tie to the system is cut.
  await run("mount", "--make-rshared", "/");
}

/** The node's address is on a bridge without ports; the default route leads there, that is nowhere. */
async function setUpNetwork(): Promise<void> {
  await run("ip", "link", "set", "lo", "up");
  await run("ip", "link", "add", "node0", "type", "bridge");
  await run("ip", "address", "add", `${nodeAddress}/24`, "dev", "node0");
  await run("ip", "link", "set", "node0", "up");
  await run("ip", "route", "add", "default", "dev", "node0");
  await writeFile("/proc/sys/net/ipv4/ip_forward", "1");
}

/** Cgroups belong to the system, whatever the namespace, so they are made read-only here. */
async function hideCgroups(): Promise<void> {
  const mounts = (await readFile("/proc/self/mounts", "utf8")).split("\n").map((line) => line.split(" "));
  for (const [, path = "", type = ""] of mounts) {
    // A version 2 beside version 1 hierarchies confuses crun.
    if (type === "cgroup2" && path !== "/sys/fs/cgroup") await run("umount", "--lazy", path);
    else if (type.startsWith("cgroup")) await run("mount", "-o", "remount,bind,ro", path);
  }
}

/** kubelet requires these settings, which belong to the system: files with the right values hide them. */
async function hideKernelSettings(dir: string): Promise<void> {
  const settings = { "vm/overcommit_memory": "1", "kernel/panic": "10", "kernel/panic_on_oops": "1" };
  for (const [setting, value] of Object.entries(settings)) {
    const file = join(dir, basename(setting));
    await writeFile(file, `${value}\n`);
    await run("mount", "--bind", file, `/proc/sys/${setting}`);
  }
}

/** The name server here knows the cluster's names. The system's cannot be reached, so a request to it would hang. */
async function askOurNameServer(dir: string): Promise<void> {
  const file = join(dir, "resolv.conf");
  await writeFile(file, "nameserver 127.0.0.1\n");
  await run("mount", "--bind", file, "/etc/resolv.conf");
}

/**
 * True if packets between two pods of the node pass its firewall rules, so that an answer finds its way back through
 * the Service that was asked.
 */
export async function bridgesAreFiltered(): Promise<boolean> {
  const setting = "/proc/sys/net/bridge/bridge-nf-call-iptables";
  return access(setting)
    .then(() => writeFile(setting, "1"))
    .then(
      () => true,
      () => false,
    );
}
