import { customResourceDefinition } from "@drover/controller";
import type { Violation } from "../harness/report-violations.ts";
import { countAnnotation, deliveries, functionName, kinds } from "./notes.ts";
import { objectsOfEach, type Report, reportSchema } from "./report.ts";

/** The CRDs of the functions. */
export const crds = deliveries.map((delivery) => customResourceDefinition(kinds[delivery]));

/** The objects that are changed, and never go. */
export const objects = deliveries.flatMap((delivery) =>
  Array.from({ length: objectsOfEach }, (_, i) => {
    const { apiVersion, kind } = kinds[delivery];
    const metadata = { name: `n${i}`, namespace: "default", annotations: { [countAnnotation]: "0" } };
    return { apiVersion, kind, metadata, spec: {} };
  }),
);

/** The ReconcileFunctions, as kubectl names them. */
export const functions = deliveries.map((delivery) => `reconcilefunction/${functionName(delivery)}`);

/** The operations of a recorder at a URL, and its report. */
export function recordingAt(url: string) {
  const ask = async (method: string, path: string): Promise<Report> =>
    reportSchema.parse(await (await fetch(`${url}/${path}`, { method })).json());
  return {
    report: () => ask("GET", "report"),
    startLoad: () => ask("POST", "load"),
    stopLoad: () => ask("DELETE", "load"),
  };
}

/** The objects whose last change has not been read. */
export const unseenIn = ({ unseen }: Report): readonly Violation[] =>
  unseen.map((what) => ({ rule: "lost", what }));

/** Runs that overlapped another one, objects that were not Ready, and those whose last change has not been read. */
export const violationsIn = (report: Report): readonly Violation[] => [
  ...report.overlaps.map((what) => ({ rule: "twice at once", what })),
  ...report.failures.map((what) => ({ rule: "failed", what })),
  ...unseenIn(report),
];
