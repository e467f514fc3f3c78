import { functionSettings, readSettings } from "@drover/runtime";
import { z } from "zod";

const variables = z.object({
  /** How the function is built. */
  CUPS: z.enum(["declares", "otherName", "reconciles", "reads", "keepsSecrets", "lies"]).default("declares"),
  VERSION: z.string().default("one"),
  /** A file that is written when the silent cup is composed. */
  SEEN: z.string().default("/dev/null"),
});

export const variablesOfCups = () => variables.parse(process.env);

export const functionConfig = () => readSettings(functionSettings, process.env);

/** The settings of a runtime that is older than plans. */
export const olderConfig = () => readSettings(functionSettings.omit({ planSecrets: true }), process.env);
