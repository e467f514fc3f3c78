/** Takes the place of `lua-file.ts` in a bundle: esbuild puts the Lua files of this package into it. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-return, @typescript-eslint/no-require-imports
export const luaFile = (path: string): string => require(`../${path}.lua`);
