/** A word as a shell takes it literally. */
export const shellWord = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
