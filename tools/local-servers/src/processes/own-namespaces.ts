/**
 * Prefix of a command that runs, as root, in mount, network and process namespaces of its own. When that process ends,
 * or is killed, everything that it started is gone too: processes, mounts, links, firewall rules.
 *
 * The shell stays the namespace's first process, because that one must take leave of the orphans that container engines
 * make.
 */
export const ownNamespaces = [
  ...["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"],
  ...["--propagation", "private", "/bin/sh", "-c", '"$@" & wait $!', "sh"],
] as const;
