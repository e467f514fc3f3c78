/**
 * Takes the place of `lua-file.ts` in a bundle: esbuild puts all Lua files of this package into the bundle, since the
 * path contains a variable part.
 */
// eslint-disable-next-line @typescript-eslint/no-unsafe-return, @typescript-eslint/no-require-imports
export const luaFile = (path: string): string => require(`../../${path}.lua`);
