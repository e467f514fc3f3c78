import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";
import { pushImage } from "./push-image.ts";

let folder: string;
let builder: string;
/** Writes a builder that writes down its commands, and does this for a push. */
function writeBuilder(name: string, onPush: string): string {
  const file = join(folder, name);
  const script = `#!/bin/sh\necho "$*" >> commands\n[ "$1" = push ] || exit 0\n${onPush}\n`;
  writeFileSync(file, script, { mode: 0o755 });
  return file;
}
/** As docker prints a push. */
const pushes = (digest: string): string =>
  `echo "5f70bf18a086: Pushed"; echo "0.1.0: digest: ${digest} size: 1234"`;
beforeEach(() => {
  folder = folderOfTest();
  builder = writeBuilder("builder", pushes(digest));
  writeFileSync(join(folder, "Dockerfile"), "");
});
const digest = `sha256:${"a".repeat(64)}`;
const image = "registry.example.com:5000/greetings:0.1.0";
const push = (name = image) => pushImage({ folder, image: name, builder });
const commands = () => readFileSync(join(folder, "commands"), "utf8").trimEnd().split("\n");

it("runs the script build, builds, pushes, and returns the image with the digest of the push", async () => {
  const build = 'echo "npm run build" >> commands';
  writeFileSync(join(folder, "package.json"), JSON.stringify({ scripts: { build } }));
  expect(await push()).toBe(`${image}@${digest}`);
  expect(commands()).toEqual(["npm run build", `build --tag ${image} .`, `push ${image}`]);
});

it("podman, which prints no digest, writes it into a file", async () => {
  builder = writeBuilder("podman", `[ "$2" = --digestfile ] && printf ${digest} > "$3"`);
  expect(await push()).toBe(`${image}@${digest}`);
  builder = writeBuilder("podman", "exit 0");
  await expect(push()).rejects.toThrow(/names no digest of/);
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
  builder = writeBuilder("builder", pushes("sha256:0"));
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
