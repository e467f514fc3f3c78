/**
 * # What a crash of Redis loses
 *
 * `npm run bench:persistence -- --kills 20` wakes keys, kills the server with SIGKILL, brings it
 * back (or its replica in its place), and counts which acknowledged wakes are not answered by a run. What counts is what
 * the waker remembers. Then it lists everything again, as a bridge does when the queue reports that wakes may be lost.
 * The table goes to results.md, but for a part of the settings: `--only failover`. As fast as
 * a process can: `--pause 0 --at-once 1`.
 */
import { parseArgs } from "node:util";
import { writeResults } from "../report/write-report.ts";
import { table } from "../report/markdown.ts";
import { type Setting, settings } from "./settings.ts";
import { type Crash, crashUnderLoad } from "./crash-under-load.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "20" },
    only: { type: "string", default: "" },
    pause: { type: "string", default: "15" },
    "at-once": { type: "string", default: "4" },
  },
});
/** The load lasts as long as this, and up to twice as long: kills come at different moments of a snapshot or a sync. */
const load = 1_500;

const [kills, pause, atOnce] = [Number(values.kills), Number(values.pause), Number(values["at-once"])];
const head = [
  ...["setting", "kills", "acknowledged", "lost", "kills that lost any", "most lost by one"],
  ...["oldest lost", "reported", "lost after the relist", "wakes/s"],
];
const rows: string[][] = [];
const all: Crash[] = [];
let description = "";
for (const setting of settings.filter(({ name }) => name.includes(values.only))) {
  const crashes = await crashesOf(setting);
  all.push(...crashes);
  rows.push(row(setting, crashes));
  console.error(rows.at(-1)?.join(" | "));
}
const how = `${description}, SIGKILL after ${load / 1_000} to ${(2 * load) / 1_000} s of load.`;
const results = `<!-- Written by npm run bench:persistence. -->\n\n# What a crash of Redis lost\n\n${how}\n\n${table(head, rows)}\n`;
console.log(results);
if (values.only === "") await writeResults(results, import.meta.dirname);
const [acknowledged, lost, unhealed] = [
  sum(all, (crash) => crash.acknowledged),
  sum(all, (crash) => crash.lost),
  sum(all, (crash) => crash.lostAfterRelist),
];
console.log(
  `${all.length} kills: ${acknowledged} wakes acknowledged, ${lost} lost, ${unhealed} after the relist`,
);
// Not exitCode: Node may spin for ever while it takes down what is left of connections to servers that were killed.
process.exit(unhealed > 0 ? 1 : 0);

async function crashesOf(setting: Setting): Promise<readonly Crash[]> {
  const crashes: Crash[] = [];
  for (let i = 0; i < kills; i += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, kills - i) }, (_, j) =>
      crashOf(setting, (i + j) / kills),
    );
    crashes.push(...(await Promise.all(some)));
  }
  return crashes;
}

/** `moment` is from 0 to 1. */
async function crashOf(setting: Setting, moment: number): Promise<Crash> {
  const server = await setting.start();
  ({ description } = server);
  return crashUnderLoad(server, { lasts: load * (1 + moment), pause }).finally(() => server.stop());
}

function row({ name }: Setting, crashes: readonly Crash[]): string[] {
  const [acknowledged, lost] = [
    sum(crashes, (crash) => crash.acknowledged),
    sum(crashes, (crash) => crash.lost),
  ];
  const cells = [
    ...[crashes.length, acknowledged, `${lost} (${((lost / acknowledged) * 100).toFixed(2)} %)`],
    ...[crashes.filter((crash) => crash.lost > 0).length, Math.max(...crashes.map((crash) => crash.lost))],
    `${(Math.max(...crashes.map((crash) => crash.reach)) / 1_000).toFixed(2)} s`,
    ...[crashes.filter((crash) => crash.reported).length, sum(crashes, (crash) => crash.lostAfterRelist)],
    Math.round(sum(crashes, (crash) => crash.wakesPerSecond) / crashes.length),
  ];
  return [name, ...cells.map(String)];
}

function sum(crashes: readonly Crash[], of: (crash: Crash) => number): number {
  return crashes.reduce((total, crash) => total + of(crash), 0);
}
