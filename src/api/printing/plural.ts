/** `1 pod`, `2 pods`, `1 pod has`, `2 pods have`. */
export const countOf = (count: number, one: string, more = `${one}s`): string => `${count} ${count === 1 ? one : more}`

/** The verb for a count, or for a share of a count. */
export const isOrAre = (count: number, of = 0): string => (count === 1 || of === 1 ? 'is' : 'are')

/**
 * Formats a share as the subject of a sentence, with its verb: `2 of 3 replicas are`, `1 of 3 replicas is`, `0 of 1
 * replica is`.
 */
export function shareOf(count: number, of: number, noun: string, [one, more]: Verb = ['is', 'are']): string {
  return `${count} of ${countOf(of, noun)} ${count === 1 || of === 1 ? one : more}`
}

/** The singular and plural forms of a verb. */
export type Verb = readonly [one: string, more: string]

/** `all 3 replicas`, `its only replica`. */
export const allOf = (count: number, noun: string): string =>
  count === 1 ? `its only ${noun}` : `all ${count} ${noun}s`
