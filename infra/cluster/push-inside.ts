/** The part of `push-images.ts` that runs in the cluster's namespaces, where mounts are nobody else's concern. */
import { resolve } from "node:path";
import { baseImage, buildBase, buildS3, buildValkey } from "../compose/local-images.ts";
import { configureContainers } from "../compose/namespace.ts";
import { run } from "../compose/run.ts";
import { pushOptions } from "./wanted-image.ts";

const root = resolve(import.meta.dirname, "../..");
const { dir, registry, images } = pushOptions.parse(JSON.parse(process.argv[2] ?? ""));
const env = await configureContainers(dir);
const options = { dir, env };
const inStore = (image: string) => run(["buildah", "inspect", "--type", "image", image], { env });
const base = await inStore(baseImage).then(
  () => baseImage,
  () => buildBase(options),
);
for (const { of, as } of images) {
  const image = await build(of, as);
  // Layers that travel no further than this machine are not worth compressing.
  const flags = ["--quiet", "--disable-compression", "--tls-verify=false"];
  await run(["buildah", "push", ...flags, image, `docker://${registry}/${as}`], { env });
}

/** Answers what the image is called in buildah's own store. */
async function build(of: string, as: string): Promise<string> {
  switch (of) {
    case "node":
      return base;
    case "valkey":
      return buildValkey(options, base);
    case "s3":
      return buildS3(options);
    default: {
      const file = resolve(root, "infra/images/Dockerfile");
      const args = ["--build-arg", `BASE=${base}`, "--build-arg", `BUNDLE=${of}`];
      await run(["buildah", "bud", "--quiet", "--file", file, ...args, "--tag", as, root], { env });
      return `localhost/${as}`;
    }
  }
}
