import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";

/** Writes `results.md`, and the goals into the section `Results` of the `README.md` in the same folder, formatted by prettier. */
export async function writeReport(text: string, goals: string, folder: string): Promise<void> {
  await writeResults(text, folder);
  const readme = join(folder, "README.md");
  await writeFormatted(readme, withGoals(await readFile(readme, "utf8"), goals));
}

/** Writes `results.md`, or another one, in a folder. */
export const writeResults = (text: string, folder: string, name = "results.md"): Promise<void> =>
  writeFormatted(join(folder, name), text);

/** The README with new goals in its section `Results`; the sections before and after it are kept. */
export function withGoals(readme: string, goals: string): string {
  const [before = "", results = ""] = readme.split(/^## Results$/m);
  const next = results.search(/^## /m);
  const after = next === -1 ? "" : results.slice(next);
  return `${before}## Results\n\nAll figures are in [results.md](results.md).\n\n${goals}\n\n${after}`;
}

/** Writes a text as the project formats it. */
async function writeFormatted(file: string, text: string): Promise<void> {
  const config = await resolveConfig(file);
  await writeFile(file, await format(text, { ...config, filepath: file }));
}
