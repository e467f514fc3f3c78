import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ContainedPackage } from "./contained-packages.ts";

/** The licences of packages, as one text: most ask to be shipped with what they cover. */
export async function licencesOf(packages: readonly ContainedPackage[], root: string): Promise<string> {
  const texts = await Promise.all(packages.map((one) => licenceOf(one, root)));
  return texts.join("\n\n----\n\n");
}

async function licenceOf(
  { folder, name, version, license }: ContainedPackage,
  root: string,
): Promise<string> {
  const files = (await readdir(join(root, folder)))
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    .sort();
  const texts = await Promise.all(files.map((file) => readFile(join(root, folder, file), "utf8")));
  return [`${name} ${version} (${license ?? "see below"})`, ...texts.map((text) => text.trim())].join("\n\n");
}
