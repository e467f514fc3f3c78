import { join } from "node:path";
import ts from "typescript";

/** Does a file of the repository have no type errors, were this its text? Other files are not looked at again. */
export type HasNoTypeErrors = (file: string, text: string) => boolean;

/** The compiler is a test, too: what it refuses needs no other. */
export function openTypeCheck(repository: string): HasNoTypeErrors {
  const config = ts.getParsedCommandLineOfConfigFile(join(repository, "tsconfig.json"), undefined, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
      throw new Error(ts.flattenDiagnosticMessageText(messageText, "\n"));
    },
  });
  if (config === undefined) throw new Error("tsconfig.json was not read.");
  let changed: { readonly path: string; readonly text: string } | undefined;
  let version = 0;
  const versions = new Map<string, number>();
  const service = ts.createLanguageService({
    getCompilationSettings: () => config.options,
    getScriptFileNames: () => config.fileNames,
    getScriptVersion: (path) => String(versions.get(path) ?? 0),
    getScriptSnapshot: (path) => {
      const text = path === changed?.path ? changed.text : ts.sys.readFile(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => repository,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (path) => ts.sys.fileExists(path),
    readFile: (path) => ts.sys.readFile(path),
    directoryExists: (path) => ts.sys.directoryExists(path),
    getDirectories: (path) => ts.sys.getDirectories(path),
  });
  return (file, text) => {
    const path = join(repository, file);
    if (changed !== undefined) versions.set(changed.path, ++version);
    versions.set(path, ++version);
    changed = { path, text };
    return [...service.getSyntacticDiagnostics(path), ...service.getSemanticDiagnostics(path)].length === 0;
  };
}
