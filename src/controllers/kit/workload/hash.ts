/** What names may be made of: no vowels and nothing that looks like one, so that no word comes of it. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** A short word for a value of JSON: the same for the same value, in whatever order its keys are. `collisionCount` gives another one if that is taken. */
export function hashOf(value: unknown, collisionCount = 0): string {
  const text = canonical(value) + (collisionCount ? `#${collisionCount}` : '')
  return [...String(fnv32a(text))].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('')
}

/** JSON with its keys in order, without what is undefined. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).filter(([, v]) => v !== undefined)
  return `{${entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, v]) => `${JSON.stringify(key)}:${canonical(v)}`).join()}}`
}

function fnv32a(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}
