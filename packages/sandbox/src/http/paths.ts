// Paths as Go's HTTP server and the API server's routers read them.

const isText = (escaped: string): boolean => {
  try {
    return decodeURIComponent(escaped) !== "";
  } catch {
    return false;
  }
};

/** Bytes that are no UTF-8 are kept as the lone surrogates U+DC80 to U+DCFF. */
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

/** A path of a URL without its escapes, which are read before it is split, or undefined where one is none. */
export const decodedPath = (path: string): string | undefined =>
  /%(?![0-9A-Fa-f]{2})/.test(path) ? undefined : path.replaceAll(/(?:%..)+/g, decodedRun);

/** The segments of a decoded path: slashes at its end do not count, others do. */
export const segmentsOf = (path: string): string[] => path.replace(/\/+$/, "").split("/").slice(1);
