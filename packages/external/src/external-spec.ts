import {
  checkedAtRun,
  durationSchema,
  parseDuration,
  type ReconcileContext,
  type Resource,
} from "@drover/controller";
import { z } from "zod";

const minPollInterval = "1s";
const pollInterval = durationSchema.refine((text) => parseDuration(text) >= parseDuration(minPollInterval), {
  error: `Looking more often than every ${minPollInterval} is not allowed.`,
  when: ({ issues }) => issues.length === 0,
  ...checkedAtRun,
});

const outputs = z.object({
  kind: z.enum(["ConfigMap", "Secret"]).default("ConfigMap"),
  name: z
    .string()
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, "give a DNS subdomain"),
});
export type Outputs = z.output<typeof outputs>;

/**
 * The fields that the spec of every external resource has. `noun` is the resource's name in the descriptions, and `kind`
 * that of its objects.
 *
 * The defaults are chosen so that leaving a field out never destroys anything. `onDelete` may be "Delete" for a resource
 * that holds no data.
 */
export const externalSpec = (noun: string, kind: string, onDelete: "Retain" | "Delete" = "Retain") => ({
  manage: z
    .enum(["Full", "ObserveOnly"])
    .default("Full")
    .describe(
      `Full: create, change and delete the ${noun} as this spec asks. ObserveOnly: only report its state and the ` +
        "differences from this spec; nothing is written, also not when this object is deleted.",
    ),
  adopt: z
    .enum(["Never", "IfUnowned"])
    .default("Never")
    .describe(
      `What to do if the ${noun} exists and was not created for this object. ` +
        `Never: leave it alone and report that. IfUnowned: take it, if it is this account's and no other ${kind} object has it.`,
    ),
  onDelete: z
    .enum(["Retain", "Delete"])
    .default(onDelete)
    .describe(
      `What happens to the ${noun} when this object is deleted. Retain: it stays, free to be adopted. ` +
        "Delete: it is deleted, too.",
    ),
  pollInterval: pollInterval
    .default("5m")
    .describe(`How often the ${noun} is checked and corrected, even if this object did not change.`),
  outputs: outputs
    .optional()
    .describe(
      `An object of this namespace into which the data of the ${noun} are written that its users need. ` +
        "It must not exist before, and is deleted with this object.",
    ),
});

const text = z.string();

/** The fields that the status of every external resource has. None is trusted alone: see `ownership.ts`. */
export const externalStatus = (noun: string) => ({
  adopted: z.boolean().optional().describe(`The ${noun} existed before this object.`),
  createdAt: text.optional().describe(`When the ${noun} was created, from the list of its account.`),
  creating: z
    .object({ name: text, since: text, until: text })
    .optional()
    .describe(`The ${noun} did not exist at \`since\`, and is created before \`until\`.`),
  changing: z
    .array(text)
    .optional()
    .describe("Settings that differ from the spec and are about to be written."),
  refused: z
    .array(text)
    .optional()
    .describe("Settings that the server has refused or does not keep. They are tried again at every poll."),
  written: z
    .record(text, text)
    .optional()
    .describe(
      "For each setting that this object has written, a hash of its value, after a ? while it is created. Only these are removed when the spec no longer names them.",
    ),
  outputs: outputs.optional(),
});

/** The parsed spec of an external resource, with its tags. */
export type ExternalSpec = z.output<z.ZodObject<ReturnType<typeof externalSpec>>> & {
  readonly tags: Readonly<Record<string, string>>;
};
export type ExternalStatus = z.output<z.ZodObject<ReturnType<typeof externalStatus>>>;

/** The part of a run's context that the kit uses. */
export type ExternalContext = Pick<
  ReconcileContext<Resource>,
  "key" | "metadata" | "log" | "signal" | "guard" | "client"
> & {
  readonly spec: ExternalSpec;
  readonly status: Partial<ExternalStatus> & { readonly observedGeneration?: number };
};
