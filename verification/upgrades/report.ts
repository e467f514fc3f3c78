import { z } from "zod";

/** Objects of each kind. */
export const objectsOfEach = 60;
/** How long a run takes, in milliseconds: so long that objects change during their runs, and a second run would meet the first. */
export const runLasts = 200;

const perKind = z.object({ pulled: z.number(), called: z.number() });

/** The report of the recorder on the changes and runs that it has seen. */
export const reportSchema = z.object({
  changes: z.number(),
  perSecond: z.number(),
  runs: perKind,
  /** The longest time without a run under load, in milliseconds. */
  longestGap: perKind,
  /** Runs of an object that began while another one of it went on. */
  overlaps: z.array(z.string()),
  /** Objects that were not Ready, with the reason. */
  failures: z.array(z.string()),
  /** Objects whose last change no run has read. */
  unseen: z.array(z.string()),
});
export type Report = z.output<typeof reportSchema>;
