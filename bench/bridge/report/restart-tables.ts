import { figure, table } from "../../report/markdown.ts";
import { titles } from "../questions/contestants.ts";
import type { PhaseFigures, PhaseName } from "../questions/phase.ts";
import type { RestartFigures } from "../questions/restart.ts";
import { count, megabytes, mib, percent, seconds } from "./units.ts";

export const phaseTitles: Readonly<Record<PhaseName, string>> = {
  first: "first start",
  restart: "restart, nothing changed",
  changes: "restart, 37 facts meanwhile",
  "changes, position too old": "restart, 37 facts, position too old",
};

const names = ({ phase, contestant }: PhaseFigures): [string, string] => [
  phaseTitles[phase],
  titles[contestant],
];
const inOrder = (phases: readonly PhaseFigures[]): readonly PhaseFigures[] => {
  const order = Object.keys(phaseTitles);
  return phases.toSorted((a, b) => order.indexOf(a.phase) - order.indexOf(b.phase));
};

export const work = ({ phases }: RestartFigures): string =>
  table(
    ["", "", "ready, s", "last run, s", "keys woken", "wakes", "by its metrics", "runs", "others busy"],
    inOrder(phases).map((f) => [
      ...names(f),
      seconds(f.ready),
      seconds(f.lastRun),
      count(f.keys.woken),
      count(f.wakes),
      count(f.wakesCounted),
      count(f.runs),
      percent(f.others),
    ]),
    2,
  );

export const requests = ({ phases }: RestartFigures): string =>
  table(
    ["", "", "lists", "watches", "others", "MB received", "CPU s", "API server + etcd, CPU s"],
    inOrder(phases).map((f) => [
      ...names(f),
      count(f.requests.lists),
      count(f.requests.watches),
      count(f.requests.others),
      megabytes(f.received),
      ownCpu(f),
      figure(f.cpu["API server + etcd"] ?? NaN),
    ]),
    2,
  );

const ownCpu = ({ cpu }: PhaseFigures): string =>
  Object.entries(cpu)
    .filter(([name]) => name !== "API server + etcd")
    .map(([name, value]) => (name === "controller-runtime" ? figure(value) : `${name} ${figure(value)}`))
    .join(", ");

export const exactness = ({ phases }: RestartFigures): string =>
  table(
    ["", "", "changed", "created", "deleted", "recreated", "others woken"],
    inOrder(phases).flatMap((f) => {
      const { noticed } = f.keys;
      if (noticed === undefined) return [];
      const { changed, created, deleted, recreated } = noticed;
      const each = [changed, created, deleted, recreated].map(([found, made]) => `${found} of ${made}`);
      return [[...names(f), ...each, count(f.keys.others)]];
    }),
    2,
  );

export const memory = ({ phases }: RestartFigures): string =>
  table(
    ["", "", "RSS, peak", "settled", "PSS, peak", "settled", "highest RSS, by the kernel", "used_memory"],
    inOrder(phases).flatMap((f) =>
      f.memory.map(({ of, peak, settled, highest }) => [
        phaseTitles[f.phase],
        of === "controller-runtime" ? titles[f.contestant] : of,
        ...[peak.rss, settled.rss, peak.pss, settled.pss].map(mib),
        of === "Redis" || of === "worker" ? "-" : mib(highest),
        of === "Redis" ? mib(f.usedMemory) : "-",
      ]),
    ),
    2,
  );
