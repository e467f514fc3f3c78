import { baseImage } from "../../infra/compose/local-images.ts";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PodCluster } from "./pod-cluster.ts";

/**
 * Writes a program that builds and pushes images as `docker` does: buildah in the cluster's namespaces, on a base of this machine's
 * Node. Whatever the registry of a name, the image is pushed to that of the cluster.
 *
 * It does `build --tag NAME .` and `push NAME`, which prints the digest.
 */
export function writeDockerStandIn(file: string, { pid, dir, registry }: PodCluster): void {
  const images = join(dir, "images");
  const env = [
    `CONTAINERS_STORAGE_CONF=${join(images, "storage.conf")}`,
    `CONTAINERS_CONF=${join(images, "containers.conf")}`,
    ...["BUILDAH_ISOLATION=chroot", "BUILDAH_FORMAT=docker"],
  ];
  const script = `#!/bin/sh
set -eu
buildah() { nsenter --target ${pid} --mount --net --pid -- env ${env.join(" ")} buildah "$@"; }
digest="$HOME/pushed-digest"
case "$1 $2" in
"build --tag") buildah bud --quiet --build-arg "BASE=${baseImage}" --tag "$3" "$(realpath "$4")" ;;
"push "*)
  buildah push --quiet --disable-compression --tls-verify=false --digestfile "$digest" "$2" "docker://${registry}/\${2#*/}"
  echo "\${2##*:}: digest: $(cat "$digest") size: 1" ;;
*) echo "not a command of this stand-in: $*" >&2; exit 2 ;;
esac
`;
  writeFileSync(file, script);
  chmodSync(file, 0o755);
}
