/**
 * # ACK's and Crossplane's buckets as Drover's
 *
 *     npm run --silent buckets:translate -- FILE... > buckets.yaml
 *
 * Reads manifests of ACK's `Bucket` (s3.services.k8s.aws), and of Crossplane's `Bucket` with the objects that refer to it
 * (s3.aws.upbound.io, s3.aws.m.upbound.io), from all files together. Writes manifests of Drover's `Bucket`, and on
 * standard error a line for each field that it leaves out or changes. Exits with 1 if an object could not be translated.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { stringify } from "yaml";
import { translate } from "./translate.ts";

const { positionals: files } = parseArgs({ allowPositionals: true });
if (files.length === 0) throw new Error("Name the files to translate: npm run buckets:translate -- FILE...");

const text = files.map((file) => readFileSync(file, "utf8")).join("\n---\n");
const { manifests, problems } = translate(text);
for (const { level, at, message } of problems) console.error(`${level}: ${at}: ${message}`);
console.log(
  manifests
    .map((manifest) => stringify(manifest, { lineWidth: 110, version: "1.1" }))
    .join("---\n")
    .trimEnd(),
);
process.exitCode = problems.some(({ level }) => level === "error") ? 1 : 0;
