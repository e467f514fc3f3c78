import { createHash } from "node:crypto";
import { type FSWatcher, readdirSync, readFileSync, statSync, watch } from "node:fs";
import { dirname, join, relative } from "node:path";
import { CommandError } from "../command-error.ts";

/** The files of a folder, and the changes of them since they were last taken. */
export interface WatchedFolder extends Disposable {
  /**
   * Waits until the content of a file differs from what it was when this was last called.
   *
   * @returns the paths of these files, relative to the folder, also of new and of deleted ones; none once the signal fires.
   */
  changes(signal: AbortSignal): Promise<readonly string[]>;
}

/** An editor writes a file in several steps: a change is taken when no other one has followed for this time, ms. */
const quietFor = 80;
/** Larger files are compared by their time and size. */
const maxHashed = 1_000_000;

/** Packages, builds, editors' temporary files, and everything that begins with a dot. */
const ignored = /^(\.|node_modules$|dist$|__pycache__$|4913$)|(~|\.pyc|\.swp|\.swx|\.tmp)$/;

/**
 * Watches a folder and the folders in it, and more files elsewhere. An event of the system only causes a look at all
 * files: what counts is their content. So no change is missed while folders come and go, and a file that is saved
 * unchanged is no change.
 *
 * @param more absolute paths of further files.
 */
export function watchFolder(folder: string, more: readonly string[] = []): WatchedFolder {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  let isDirty = false;
  let notice = Promise.withResolvers<undefined>();
  const onEvent = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isDirty = true;
      notice.resolve(undefined);
    }, quietFor);
  };
  const look = (): ReadonlyMap<string, string> => {
    const { folders, files } = listFolder(folder);
    const watched = new Set([...folders, ...more.map((file) => dirname(file))]);
    keepWatchers(watchers, watched, onEvent);
    return new Map(
      [...files, ...more].flatMap((file) => {
        const content = contentOf(file);
        return content === undefined ? [] : [[relative(folder, file), content]];
      }),
    );
  };
  const closeAll = (): void => {
    clearTimeout(timer);
    for (const watcher of watchers.values()) watcher.close();
  };
  const lookFirst = (): ReadonlyMap<string, string> => {
    try {
      // Watched before it is read, so that no change is between the two.
      look();
      return look();
    } catch (error) {
      closeAll(); // a watcher keeps the process alive
      throw error;
    }
  };
  let known = lookFirst();
  return {
    async changes(signal) {
      const stop = (): void => notice.resolve(undefined);
      signal.addEventListener("abort", stop, { once: true });
      try {
        while (!signal.aborted) {
          if (!isDirty) await notice.promise;
          notice = Promise.withResolvers();
          isDirty = false;
          const now = look();
          const paths = [...new Set([...known.keys(), ...now.keys()])];
          const changed = paths.filter((path) => known.get(path) !== now.get(path));
          known = now;
          if (changed.length > 0) return changed.sort();
        }
        return [];
      } finally {
        signal.removeEventListener("abort", stop);
      }
    },
    [Symbol.dispose]: closeAll,
  };
}

/** All folders, this one included, and all files in them. Links to folders are not followed. */
function listFolder(path: string): {
  readonly folders: readonly string[];
  readonly files: readonly string[];
} {
  const folders = [path];
  const files: string[] = [];
  for (const folder of folders) {
    for (const entry of entriesOf(folder)) {
      if (ignored.test(entry.name)) continue;
      if (entry.isDirectory()) folders.push(join(folder, entry.name));
      else files.push(join(folder, entry.name));
    }
  }
  return { folders, files };
}

/** None if the folder is gone by now. */
function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function keepWatchers(
  watchers: Map<string, FSWatcher>,
  folders: ReadonlySet<string>,
  onEvent: () => void,
): void {
  const wanted = new Map([...folders].flatMap((path) => identityOf(path).map((id) => [id, path] as const)));
  for (const [id, watcher] of watchers) {
    if (wanted.has(id)) continue;
    watcher.close();
    watchers.delete(id);
  }
  for (const [id, path] of wanted) {
    if (watchers.has(id)) continue;
    const watcher = watchOf(path, onEvent);
    // The folder is removed: its parent reports that, too.
    watcher?.on("error", () => watcher.close());
    if (watcher !== undefined) watchers.set(id, watcher);
  }
}

/** A watch is of a folder, and not of its path: a folder that is removed and made again needs a new one. */
function identityOf(path: string): readonly string[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? [] : [`${stat.ino} ${stat.birthtimeMs} ${path}`];
}

/** Undefined if the folder is gone by now. */
function watchOf(folder: string, onEvent: () => void): FSWatcher | undefined {
  try {
    return watch(folder, onEvent);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new CommandError(
      `${folder} cannot be watched (${String(code)}). If the system has too few watches or open files, raise ` +
        "fs.inotify.max_user_watches or `ulimit -n`, and start again.",
      { cause },
    );
  }
}

/** A text that differs when the content does; undefined if there is no such file. */
function contentOf(file: string): string | undefined {
  try {
    const stat = statSync(file);
    if (!stat.isFile()) return undefined;
    if (stat.size > maxHashed) return `${stat.size} ${stat.mtimeMs}`;
    return createHash("sha256").update(readFileSync(file)).digest("base64");
  } catch {
    return undefined;
  }
}
