import type { Random } from '../../base/random.ts'

/** Kubernetes': no vowels, so that no words come out, and nothing that is read for something else. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
const suffixLength = 5
const maxPrefixLength = 63 - suffixLength

/** A name as the server would make it from `generateName`. Made here, an attempt whose answer got lost can be repeated without making two. */
export function generatedName(prefix: string, random: Random): string {
  let name = prefix.slice(0, maxPrefixLength)
  for (let i = 0; i < suffixLength; i++) name += alphabet[Math.floor(random.next() * alphabet.length)]
  return name
}
