/** Images for the pods of a cluster with a node, made of what this machine has. */
import type { NodeCluster } from "@drover/real-cluster";
import { join, resolve } from "node:path";
import type { z } from "zod";
import { bundle } from "../bundle.ts";
import { fetchFor } from "../compose/local-images.ts";
import { ensureBuilders } from "../compose/host-tools.ts";
import { partNames, type pushOptions, type WantedImage } from "./wanted-image.ts";

/**
 * Bundles processes, builds their images with infra/images/Dockerfile on a base that is made here, and pushes them to
 * the cluster's registry. The first image takes some seconds, for Node is in it; the others share that layer.
 */
export async function pushImages(cluster: NodeCluster, images: readonly WantedImage[]): Promise<void> {
  await ensureBuilders();
  await fetchFor(images.flatMap((image) => ("of" in image ? [image.of] : [])));
  const processes = new Map(
    images.flatMap((image) => ("of" in image && !partNames.has(image.of) ? [[image.of, image.entry]] : [])),
  );
  for (const [name, entry] of processes) await bundle(name, entry);
  const options: z.input<typeof pushOptions> = {
    dir: join(cluster.dir, "images"),
    registry: cluster.registry,
    images: [...images],
  };
  const program = resolve(import.meta.dirname, "push-inside.ts");
  await cluster.exec([process.execPath, program, JSON.stringify(options)]);
}
