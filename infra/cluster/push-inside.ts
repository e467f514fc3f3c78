/** The part of `push-images.ts` that runs in the cluster's namespaces, where mounts affect no other process. */
import { resolve } from "node:path";
import { baseImage, buildBase, buildRedis7, buildS3, buildValkey } from "../compose/local-images.ts";
import { configureContainers } from "../compose/namespace.ts";
import { run } from "../compose/run.ts";
import { pushOptions, type WantedImage } from "./wanted-image.ts";

const root = resolve(import.meta.dirname, "../..");
const { dir, registry, images } = pushOptions.parse(JSON.parse(process.argv[2] ?? ""));
const env = await configureContainers(dir);
const options = { dir, env };
const inStore = (image: string) => run(["buildah", "inspect", "--type", "image", image], { env });
const base = await inStore(baseImage).then(
  () => baseImage,
  () => buildBase(options),
);
for (const wanted of images) {
  const { as } = wanted;
  const image = await build(wanted);
  // Layers that travel no further than this machine are not worth compressing.
  const flags = ["--quiet", "--disable-compression", "--tls-verify=false"];
  await run(["buildah", "push", ...flags, image, `docker://${registry}/${as}`], { env });
}

/** Answers what the image is called in buildah's own store. */
async function build(wanted: WantedImage): Promise<string> {
  const { as } = wanted;
  if ("folder" in wanted) return buildFile(as, wanted.folder, {});
  switch (wanted.of) {
    case "node":
      return base;
    case "valkey":
      return buildValkey(options, base);
    case "redis-7":
      return buildRedis7(options, base);
    case "s3":
      return buildS3(options);
    default:
      return buildFile(as, root, { file: resolve(root, "infra/images/Dockerfile"), bundle: wanted.of });
  }
}

async function buildFile(
  as: string,
  folder: string,
  { file = resolve(folder, "Dockerfile"), bundle }: { readonly file?: string; readonly bundle?: string },
): Promise<string> {
  const args = [`BASE=${base}`, ...(bundle === undefined ? [] : [`BUNDLE=${bundle}`])];
  const flags = args.flatMap((arg) => ["--build-arg", arg]);
  await run(["buildah", "bud", "--quiet", "--file", file, ...flags, "--tag", as, folder], { env });
  return `localhost/${as}`;
}
