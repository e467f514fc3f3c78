import { messageOf } from "@drover/controller";
import { nonSecret, readSettings, wholeNumber } from "@drover/runtime";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import { type Images, imagesSchema } from "./images.ts";

const readFileOf = (path: string): unknown => parse(readFileSync(path, "utf8"));

/** A path to a JSON or YAML file, parsed. */
const parsedFile = <T extends z.ZodType>(schema: T) =>
  z.string().transform((path, context): z.output<T> => {
    try {
      const parsed = schema.safeParse(readFileOf(path));
      if (parsed.success) return parsed.data;
      context.addIssue({
        code: "custom",
        message: `its content is wrong:\n${z.prettifyError(parsed.error)}`,
      });
    } catch (error) {
      const why = messageOf(error);
      context.addIssue({ code: "custom", message: `it is no JSON or YAML file that can be read: ${why}` });
    }
    return z.NEVER;
  });

const nodeSettings = z.object({
  /** Path of the kubeconfig. */
  kubeconfig: nonSecret(z.string()),
  /** A JSON or YAML file: image -> { command, args?, env?, workingDir? }. */
  nodeImages: nonSecret(parsedFile(imagesSchema)),
  nodeName: z.string().default("drover-node"),
  /** For logs and volumes. */
  nodeFolder: z.string().default(".run/node"),
  /** A JSON or YAML file of variables that every container gets. */
  nodeEnv: parsedFile(z.record(z.string(), z.string())).default({}),
  nodePodCidr: z.string().optional(),
  /** Milliseconds; default: the period of each probe. */
  nodeProbePeriod: nonSecret(wholeNumber({ least: 100, most: 3_600_000 }).optional()),
  logLevel: nonSecret(z.enum(["debug", "info", "warn", "error"]).default("info")),
});
export type NodeSettings = z.output<typeof nodeSettings> & { readonly nodeImages: Images };

export const nodeConfig = (): NodeSettings => readSettings(nodeSettings, process.env);
