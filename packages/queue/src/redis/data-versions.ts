/**
 * The versions of Drover's data in Redis: of a queue's ledger, and of the bridge's reverse index. Processes of two versions of
 * Drover use the same data while an installation is updated. Increment a version with a change after which one of them would
 * read wrongly what the other has written: `npm run versions` then refuses to run them beside each other, and
 * docs/versioning.md has what users must do.
 */
export const dataVersions = { ledger: 1, index: 1 } as const;
