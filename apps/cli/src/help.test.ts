import type { Command } from "commander";
import { expect, it } from "vitest";
import { droverCommand } from "./drover-command.ts";

const header = `# The \`drover\` command

The help of every command. Written from the code: see apps/cli/src/help.test.ts.
`;

function helpOf(command: Command, parents: readonly string[] = []): readonly string[] {
  const names = [...parents, command.name()];
  const help = command.configureHelp({ helpWidth: 100 }).helpInformation().trimEnd();
  const section = `## ${names.join(" ")}\n\n\`\`\`text\n${help}\n\`\`\`\n`;
  return [section, ...command.commands.flatMap((child) => helpOf(child, names))];
}

it("docs/reference/cli.md is the help of every command", async () => {
  const text = [header, ...helpOf(droverCommand())].join("\n");
  await expect(text).toMatchFileSnapshot("../../../docs/reference/cli.md");
});
