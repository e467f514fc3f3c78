// Paths as the HTTP server of Go and the routers of the API server read them.

const isText = (escaped: string): boolean => {
  try {
    return decodeURIComponent(escaped) !== "";
  } catch {
    return false;
  }
};

/** Decodes escapes. Bytes that are not UTF-8 become the lone surrogates U+DC80 to U+DCFF. */
function decodedRun(run: string): string {
  let text = "";
  for (let at = 0; at < run.length;) {
    const size = [3, 6, 9, 12].find((length) => isText(run.slice(at, at + length)));
    text +=
      size === undefined
        ? String.fromCharCode(0xdc00 + Number.parseInt(run.slice(at + 1, at + 3), 16))
        : decodeURIComponent(run.slice(at, at + size));
    at += size ?? 3;
  }
  return text;
}

/** The decoded path of a URL, which is split only after that; undefined if an escape is invalid. */
export const decodedPath = (path: string): string | undefined =>
  /%(?![0-9A-Fa-f]{2})/.test(path) ? undefined : path.replaceAll(/(?:%..)+/g, decodedRun);

/** The segments of a decoded path. Slashes at its end add no segments, others do. */
export const segmentsOf = (path: string): string[] => path.replace(/\/+$/, "").split("/").slice(1);
