/** The URL of a function, and the address that was checked and is connected to. */
export interface Target {
  readonly url: URL;
  readonly address: string;
}

/** A function cannot be called at its address. The message has the remedy. */
export class TargetError extends Error {
  override readonly name = "TargetError";
}

/** A URL with `webhook.path` appended to its path. */
export function withPath(base: URL, path: string): URL {
  const url = new URL(base);
  const folder = base.pathname.replace(/\/$/, "");
  url.pathname = path === "/" && folder !== "" ? folder : `${folder}${path}`;
  return url;
}
