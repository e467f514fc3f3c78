import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";

/** Writes `results.md`, and the goals into the last section of the `README.md` beside it, as the project formats them. */
export async function writeReport(text: string, goals: string, folder: string): Promise<void> {
  await writeFormatted(join(folder, "results.md"), text);
  const readme = join(folder, "README.md");
  const [story = ""] = (await readFile(readme, "utf8")).split(/^## Results$/m);
  await writeFormatted(
    readme,
    `${story}## Results\n\nAll figures are in [results.md](results.md).\n\n${goals}\n`,
  );
}

/** Writes a text as the project formats it. */
export async function writeFormatted(file: string, text: string): Promise<void> {
  const config = await resolveConfig(file);
  await writeFile(file, await format(text, { ...config, filepath: file }));
}
