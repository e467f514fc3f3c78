export function lockPath(folder: string): string;

export function withLock<T>(
  path: string,
  options: { readonly onWait?: () => void; readonly signal?: AbortSignal | undefined },
  work: () => Promise<T>,
): Promise<T>;
