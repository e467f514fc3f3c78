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
let description = "";
for (const setting of settings.filter(({ name }) => name.includes(values.only))) {
  const crashes = await crashesOf(setting);
  rows.push(row(setting, crashes));
  console.error(rows.at(-1)?.join(" | "));
  if (crashes.some(({ lostAfterRelist }) => lostAfterRelist > 0)) process.exitCode = 1;
}
const how = `${description}, SIGKILL after ${load / 1_000} to ${(2 * load) / 1_000} s of load.`;
const results = `# What a crash of Redis lost\n\n${how}\n\n${table(rows)}\n`;
console.log(results);
if (values.only === "") await writeFile(new URL("results.md", import.meta.url), results);

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
  const sum = (of: (crash: Crash) => number): number =>
    crashes.reduce((total, crash) => total + of(crash), 0);
  const [acknowledged, lost] = [sum((crash) => crash.acknowledged), sum((crash) => crash.lost)];
  const cells = [
    ...[crashes.length, acknowledged, `${lost} (${((lost / acknowledged) * 100).toFixed(2)} %)`],
    ...[sum(({ lost }) => Math.sign(lost)), Math.max(...crashes.map(({ lost }) => lost))],
    ...[sum(({ told }) => Number(told)), sum(({ lostAfterRelist }) => lostAfterRelist)],
    Math.round(sum(({ wakesPerSecond }) => wakesPerSecond) / crashes.length),
  ];
  return [name, ...cells.map(String)];
}

function table([head = [], ...body]: readonly string[][]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? "---" : "---:"))), ...body.map(line)].join("\n");
}
