/** Lua files, of which scripts are assembled. */
export interface LuaSources {
  read(path: string): LuaSource;
}

interface LuaSource {
  readonly text: string;
  /** The paths of the files that it includes. */
  readonly includes: readonly string[];
  /** The numbers that it uses, by name. */
  readonly constants: readonly (readonly [string, number])[];
}

/**
 * Makes Lua files usable. Each is read once.
 *
 * @param file returns the text of a file by its path, without the extension.
 * @param constants numbers that the files may use, as local variables.
 */
export function luaSources(
  file: (path: string) => string,
  constants: Readonly<Record<string, number>>,
): LuaSources {
  const read = new Map<string, LuaSource>();
  // Sorted: a bundle must make the same scripts, and its modules have another order.
  const sorted = Object.entries(constants).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    read(path) {
      const known = read.get(path);
      if (known !== undefined) return known;
      const text = file(path).trimEnd();
      const code = text.replaceAll(/--.*$/gm, "");
      const source = {
        text,
        includes: [...text.matchAll(/^--- @include "(.+)"$/gm)].map(([, name = ""]) => name),
        constants: sorted.filter(([name]) => new RegExp(`\\b${name}\\b`).test(code)),
      };
      read.set(path, source);
      return source;
    },
  };
}

/**
 * Returns a function that adds files to one script. It returns the text of a file, after the files that it includes with
 * lines such as
 *
 *     --- @include "ledger/rules/entry"
 *
 * and after the constants that it uses. A file or a constant that was added before is left out. `change` changes the
 * file's own text.
 */
export function luaAssembler(sources: LuaSources) {
  const added = new Set<string>();
  const isNew = (name: string): boolean => added.size < added.add(name).size;
  const add = (path: string, change = (text: string) => text): string => {
    if (!isNew(path)) return "";
    const { text, includes, constants } = sources.read(path);
    return [
      ...includes.map((each) => add(each)).filter((each) => each !== ""),
      ...constants.filter(([name]) => isNew(name)).map(([name, value]) => `local ${name} = ${value}`),
      change(`-- ${path}.lua\n${text}`),
    ].join("\n");
  };
  return add;
}
