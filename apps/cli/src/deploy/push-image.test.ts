import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";
import { pushImage } from "./push-image.ts";

let folder: string;
let builder: string;
/** A builder that writes down its commands, and prints what is in `digests`. */
beforeEach(() => {
  folder = folderOfTest();
  builder = join(folder, "builder");
  writeFileSync(builder, '#!/bin/sh\necho "$*" >> commands\n[ "$1" = image ] && exec cat digests\nexit 0\n', {
    mode: 0o755,
  });
  writeFileSync(join(folder, "Dockerfile"), "");
  digests(`registry.example.com:5000/greetings@${digest}`);
});
const digest = `sha256:${"a".repeat(64)}`;
const image = "registry.example.com:5000/greetings:0.1.0";
const digests = (...found: readonly string[]) =>
  writeFileSync(join(folder, "digests"), JSON.stringify(found));
const push = (name = image) => pushImage({ folder, image: name, builder });
const commands = () => readFileSync(join(folder, "commands"), "utf8").trimEnd().split("\n");

it("runs the script build, builds, pushes, and returns the image with the digest of this repository", async () => {
  const build = 'echo "npm run build" >> commands';
  writeFileSync(join(folder, "package.json"), JSON.stringify({ scripts: { build } }));
  digests(`elsewhere.example.com/greetings@sha256:0`, `registry.example.com:5000/greetings@${digest}`);
  expect(await push()).toBe(`${image}@${digest}`);
  expect(commands()).toEqual([
    "npm run build",
    `build --tag ${image} .`,
    `push ${image}`,
    `image inspect --format {{json .RepoDigests}} ${image}`,
  ]);
});

it("takes an image without a tag, and a folder without a package", async () => {
  expect(await push("registry.example.com:5000/greetings")).toBe(
    `registry.example.com:5000/greetings@${digest}`,
  );
  expect(commands()[0]).toBe("build --tag registry.example.com:5000/greetings .");
});

it.each(["--file=/etc/passwd", "a b:1", `greetings@${digest}`, "", "a/"])(
  "starts nothing for %j, which is no name",
  async (name) => {
    await expect(push(name)).rejects.toThrow(/is not the name of an image\. Give one such as/);
    expect(commands).toThrow(/ENOENT/);
  },
);

it("explains what is missing: the Dockerfile, the builder, the digest", async () => {
  digests();
  await expect(push()).rejects.toThrow(/names no digest of .* leave --push out/);
  await expect(pushImage({ folder, image, builder: "absent-builder" })).rejects.toThrow(
    /^`absent-builder build --tag \S+ \.` cannot be started\. Install absent-builder, or name another/,
  );
  await expect(pushImage({ folder: join(folder, "absent"), image, builder })).rejects.toThrow(
    /There is no Dockerfile in .*absent/,
  );
});

it("does not push what could not be built", async () => {
  writeFileSync(builder, '#!/bin/sh\necho "$*" >> commands\n[ "$1" != build ]\n', { mode: 0o755 });
  await expect(push()).rejects.toThrow(/^`\S+ build --tag \S+ \.` failed: its output is above\.$/);
  expect(commands()).toHaveLength(1);
});
