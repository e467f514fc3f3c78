import { z } from "zod";

const systemError = z.object({ code: z.string(), syscall: z.string(), path: z.string().optional() });

const problems: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full. Make room, and try again.",
  EDQUOT: "your quota of the disk is used up. Make room, and try again.",
  EROFS: "its disk is read-only. Use a folder that can be written.",
  EACCES: "permission denied. Change its permissions, or use another folder.",
  EPERM: "permission denied. Change its permissions, or use another folder.",
  EEXIST: "something else has that name. Move it out of the way.",
  ENOTDIR: "a part of its path is a file, and not a folder. Move that out of the way.",
  EISDIR: "it is a folder, and not a file. Move it out of the way.",
  ENOENT: "it does not exist. Check its path.",
  ENAMETOOLONG: "its name is too long. Take a shorter one.",
  EMFILE: "too many files are open. Raise the limit: ulimit -n",
};

const reading = /^(read|scandir|stat|lstat|opendir|access)$/;

/** Explains a file system error in a sentence with a remedy; undefined for any other error. */
export function fileProblem(error: unknown): string | undefined {
  const { data } = systemError.safeParse(error);
  const problem = problems[data?.code ?? ""];
  if (data === undefined || problem === undefined) return undefined;
  const { path, syscall } = data;
  // `open` can be for reading or writing.
  const verb = reading.test(syscall) ? "read" : syscall === "open" ? "opened" : "written";
  return `${path ?? "A file"} could not be ${verb}: ${problem}`;
}
