import { z } from "zod";

const words = z.union([z.string().transform((word) => [word]), z.array(z.string()).min(1)]);
const imageSchema = z.strictObject({
  /** As an image's ENTRYPOINT: the program and its first arguments. */
  command: words,
  /** As its CMD: more arguments, unless the container has its own. */
  args: z.array(z.string()).default([]),
  /** Laid under what the container sets. */
  env: z.record(z.string(), z.string()).default({}),
  /** The working directory unless the container sets one. Default: that of the node. */
  workingDir: z.string().exactOptional(),
});

/** By an image's name, as pods give it. */
export const imagesSchema = z.record(z.string(), imageSchema);
export type Images = z.input<typeof imagesSchema>;
export type Image = z.output<typeof imageSchema>;

/** The images by name. Throws with the path of what is wrong. */
export const imagesOf = (images: Images): ReadonlyMap<string, Image> => {
  const parsed = imagesSchema.safeParse(images);
  if (parsed.success) return new Map(Object.entries(parsed.data));
  throw new Error(
    `The images are to be { "<name>": { "command": [...], "args"?: [...], "env"?: {...} } }:\n${z.prettifyError(parsed.error)}`,
    { cause: parsed.error },
  );
};
