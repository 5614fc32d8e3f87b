import { entityTooLarge } from '../../api/errors.ts'
import { countValues, startsJson } from '../parsing/count-values.ts'

/** The size in bytes from which a body is parsed, decoded and written in separate turns of the event loop. */
export const longBody = 1 << 18

/** The size in bytes from which a parser thread converts YAML and protobuf bodies: 64 KB take up to 3 ms. */
export const longForeignBody = 1 << 16

/**
 * The maximum number of values in a long body. A handwritten object of 1.5 MB has about 30,000; each takes about 1 µs
 * to parse and decode.
 */
export const maxValues = 65_536

/**
 * Rejects a long JSON body with too many values before it is parsed: parsing would block the event loop for hundreds of
 * milliseconds.
 */
export function refuseCrowded(bytes: Buffer): Buffer {
  if (bytes.length <= longBody || !startsJson(bytes) || countValues(bytes, maxValues) <= maxValues) return bytes
  return refuseValues()
}

export function refuseValues(): never {
  throw entityTooLarge(`Request entity too large: limit is ${maxValues} values`)
}

const star = '*'

/**
 * True for a body that is parsed, decoded and written in separate turns: a long one, and YAML that may have aliases,
 * which turn 64 KB into 100,000 values.
 */
export const needsTurns = (bytes: Buffer, contentType: string | undefined): boolean =>
  bytes.length > longBody || (contentType !== undefined && contentType.includes('yaml') && bytes.includes(star))

/** The equivalent limit for YAML, enforced while parsing. Keys count as nodes, too. */
export const yamlLimit = (text: string) =>
  text.length > longBody ? { nodes: 2 * maxValues, refuse: refuseValues } : undefined
