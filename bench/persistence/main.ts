/**
 * # What a crash of Redis loses
 *
 * `npm run bench:persistence -- --kills 10` wakes keys as fast as a process can, kills the server with SIGKILL, brings it
 * back (or its replica in its place), and counts which acknowledged wakes are not answered by a run. What counts is what
 * the waker remembers. Then it lists everything again, as a bridge does when the queue tells it that wakes may be lost.
 * The table goes to results.md, but for a part of the settings: `--only failover`.
 */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type Crash, crashUnderLoad } from "./crash-under-load.ts";
import { type Setting, settings } from "./settings.ts";

const { values } = parseArgs({
  options: { kills: { type: "string", default: "10" }, only: { type: "string", default: "" } },
});
/** The load lasts as long as this, and up to twice as long: kills come at different moments of a snapshot or a sync. */
const load = 2_000;

const kills = Number(values.kills);
const head = ["setting", "kills", "acknowledged", "lost", "kills that lost any", "most lost by one", "told"];
const rows = [[...head, "lost after the relist", "wakes/s"]];
const all: Crash[] = [];
let description = "";
for (const setting of settings.filter(({ name }) => name.includes(values.only))) {
  const crashes = await crashesOf(setting);
  all.push(...crashes);
  rows.push(row(setting, crashes));
  console.error(rows.at(-1)?.join(" | "));
}
const how = `${description}, SIGKILL after ${load / 1_000} to ${(2 * load) / 1_000} s of load.`;
const results = `# What a crash of Redis lost\n\n${how}\n\n${table(rows)}\n`;
console.log(results);
if (values.only === "") await writeFile(new URL("results.md", import.meta.url), results);
const [acknowledged, lost, unhealed] = [
  sum(all, (crash) => crash.acknowledged),
  sum(all, (crash) => crash.lost),
  sum(all, (crash) => crash.lostAfterRelist),
];
console.log(
  `${all.length} kills: ${acknowledged} wakes acknowledged, ${lost} lost, ${unhealed} after the relist`,
);
if (unhealed > 0) process.exitCode = 1;

async function crashesOf(setting: Setting): Promise<readonly Crash[]> {
  const crashes: Crash[] = [];
  for (let i = 0; i < kills; i++) {
    const server = await setting.start();
    ({ description } = server);
    try {
      crashes.push(await crashUnderLoad(server, load * (1 + i / kills)));
    } finally {
      await server.stop();
    }
  }
  return crashes;
}

function row({ name }: Setting, crashes: readonly Crash[]): string[] {
  const [acknowledged, lost] = [
    sum(crashes, (crash) => crash.acknowledged),
    sum(crashes, (crash) => crash.lost),
  ];
  const cells = [
    ...[crashes.length, acknowledged, `${lost} (${((lost / acknowledged) * 100).toFixed(2)} %)`],
    ...[crashes.filter((crash) => crash.lost > 0).length, Math.max(...crashes.map((crash) => crash.lost))],
    ...[crashes.filter((crash) => crash.told).length, sum(crashes, (crash) => crash.lostAfterRelist)],
    Math.round(sum(crashes, (crash) => crash.wakesPerSecond) / crashes.length),
  ];
  return [name, ...cells.map(String)];
}

function sum(crashes: readonly Crash[], of: (crash: Crash) => number): number {
  return crashes.reduce((total, crash) => total + of(crash), 0);
}

function table([head = [], ...body]: readonly string[][]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? "---" : "---:"))), ...body.map(line)].join("\n");
}
