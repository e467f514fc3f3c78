import { droverCommand } from "./drover-command.ts";

await droverCommand().parseAsync();
