import type { Attack } from "../attack.ts";
import { printed } from "../messages/printed.ts";

/** Milliseconds of processor time that a name of 30 letters may cost. */
const most = 1_000;

/** The API server takes the pattern and the object: its engine does not backtrack, and the name does not match. */
export const attack: Attack = {
  name: "an object cannot make a function's process backtrack over its author's pattern",
  kind: "work before verification",
  needs: [],
  async run() {
    const script = `
      import { defineResource } from "@drover/controller";
      import { parseObject } from "./packages/runtime/src/schema/parse-object.ts";
      import { z } from "zod";
      const Site = defineResource({
        group: "example.com", version: "v1", kind: "Site", scope: "Namespaced",
        spec: z.object({ name: z.string().regex(/^([a-z0-9]+-?)+$/) }), status: z.object({}),
      });
      const metadata = { name: "a", namespace: "b", uid: "u", resourceVersion: "1" };
      const parse = (name) =>
        parseObject(Site, { apiVersion: "example.com/v1", kind: "Site", metadata, spec: { name } });
      if (!parse("a-site").ok) throw new Error("The pattern takes no name.");
      const before = process.cpuUsage();
      const parsed = parse("a".repeat(30) + "!");
      const { user, system } = process.cpuUsage(before);
      console.log("refused " + !parsed.ok + " after " + (user + system) / 1_000 + " ms");`;
    const text = await printed({ script });
    const [, refused, took] = /^refused (true|false) after ([\d.]+) ms$/m.exec(text) ?? [];
    if (refused === undefined) throw new Error(`The process did not get to its end: ${text}`);
    return {
      succeeded: refused === "false" || Number(took) > most,
      evidence: `30 letters and one that does not match took ${Number(took).toFixed(1)} ms of processor time`,
    };
  },
};
