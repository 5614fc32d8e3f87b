import { goJson, sortKeys } from '../../../api/json/index.ts'

/** What names may be made of: no vowels and nothing that looks like one, so that no word comes of it. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'

/**
 * A short word for a value of JSON: the same for the same value, in whatever order its keys are. `collisionCount`
 * gives another one if that is taken. For the data of a ControllerRevision it is the word that Kubernetes has.
 */
export function hashOf(value: unknown, collisionCount = 0): string {
  const text = goJson(sortKeys(value)) + collisionCount
  return [...String(fnv32(text))].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('')
}

/** FNV-1, not FNV-1a: it multiplies first. */
function fnv32(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash, 0x01000193) ^ byte
  return hash >>> 0
}
