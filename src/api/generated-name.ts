/** Kubernetes' alphabet. It has no vowels, so that names contain no words, and no ambiguous characters. */
export const nameAlphabet = 'bcdfghjklmnpqrstvwxz2456789'
/** The number of random characters at the end of a generated name. */
export const generatedSuffixLength = 5
/** The longest prefix of a generated name, which is a DNS label of at most 63 characters. */
export const maxGeneratedPrefix = 63 - generatedSuffixLength

/**
 * Generates a name from `generateName` as the server does. A client that generates the name itself can retry a create
 * whose response was lost without creating two objects.
 */
export function generatedName(prefix: string, random: { next(): number }): string {
  let name = prefix.slice(0, maxGeneratedPrefix)
  for (let i = 0; i < generatedSuffixLength; i++) name += nameAlphabet[Math.floor(random.next() * nameAlphabet.length)]
  return name
}
