/** The words of a command line: separated by spaces, quoted with ' or " where a word has spaces itself. */
export function words(line: string): string[] {
  const found: string[] = []
  let word: string | undefined
  for (const [, single, double, space, plain] of line.matchAll(/'([^']*)'|"([^"]*)"|(\s+)|([^\s'"]+)/g)) {
    if (space !== undefined) {
      if (word !== undefined) found.push(word)
      word = undefined
    } else {
      word = (word ?? '') + (single ?? double ?? plain ?? '')
    }
  }
  return word === undefined ? found : [...found, word]
}
