// Changes Widgets at a steady rate and writes a line per change to a file: its key, when it was sent and when it was
// answered (ns of the monotonic clock). Takes one argument, JSON, and ends by itself.
import { createWriteStream } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { now } from "../../../verification/harness/clock.ts";
import { openApi } from "../cluster/api.ts";
import { patch } from "../cluster/population.ts";
import { widgets } from "../cluster/widgets.ts";

const { kubeconfig, file, objects, perSecond, lasts } = z
  .object({
    kubeconfig: z.string(),
    file: z.string(),
    objects: z.number(),
    perSecond: z.number(),
    lasts: z.number(),
  })
  .parse(JSON.parse(process.argv[2] ?? ""));

const api = openApi(kubeconfig);
const lines = createWriteStream(file);
const ns = (ms: number): string => (ms * 1e6).toFixed(0);

async function change(i: number): Promise<void> {
  const key = widgets.keyOf(i % objects);
  const sent = now();
  await patch(api, key, i + 1);
  lines.write(`${key} ${ns(sent)} ${ns(now())}\n`);
}

const began = now();
const changes: Promise<void>[] = [];
// What is due is sent, whether or not what was sent before has been answered.
while (now() - began < lasts) {
  const due = Math.floor(((now() - began) / 1_000) * perSecond);
  while (changes.length < due) changes.push(change(changes.length));
  await delay(1);
}
await Promise.all(changes);
api.close();
lines.end();
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ cpu: (user + system) / 1e6 }));
