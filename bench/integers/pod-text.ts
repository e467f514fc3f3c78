import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const hex = (text: string): string => createHash("sha256").update(text).digest("hex");
const uid = (text: string): string =>
  hex(text)
    .slice(0, 32)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

/** A Pod as JSON, with a name in braces in place of each value that differs between two Pods. */
const template = JSON.stringify(JSON.parse(readFileSync(new URL("pod.json", import.meta.url), "utf8")));

/** The text of a running Pod as an API server sends it. `runAsUser` is an integer. */
export function podText(i: number, runAsUser: string): string {
  const values: Readonly<Record<string, string | number>> = {
    suffix: hex(String(i)).slice(0, 5),
    uid: uid(`pod ${i}`),
    version: 1_234_567 + i,
    node: i % 20,
    subnet: i % 250,
    container: hex(`c ${i}`),
  };
  return template
    .replace('"{user}"', runAsUser)
    .replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}
