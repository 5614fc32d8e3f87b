import { type FieldError, forbidden } from '../../validation/field-error.ts'
import type { Path } from '../../validation/path.ts'

/**
 * Kubernetes' limits for estimates: of one rule with all its possible occurrences in an object, and of all rules of a
 * schema.
 */
export const ruleCostLimit = 10_000_000
const schemaCostLimit = 100_000_000

const advice =
  '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)'

/** `estimated rule cost exceeds budget by factor of 2.5x (…)`. */
export function costMessage(name: string, cost: number, limit: number): string {
  const factor = cost / limit
  const shown = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`
  return `${name} exceeds budget by factor of ${shown} ${advice}`
}

/** The number of rules that Kubernetes names in the error about the total. */
const maxNamed = 4

/** Adds the cost of all expressions of a schema, and keeps the most expensive ones. */
export class TotalCost {
  #total = 0
  #expensive: { path: Path; cost: number }[] = []

  add(path: Path, cost: number): void {
    this.#total = Math.min(2 ** 64, this.#total + cost)
    if (cost < schemaCostLimit / 100) return
    this.#expensive.push({ path, cost })
    this.#expensive.sort((a, b) => b.cost - a.cost)
    this.#expensive.length = Math.min(maxNamed, this.#expensive.length)
  }

  /** The errors of the whole schema at `path`. */
  errors(path: Path): FieldError[] {
    if (this.#total <= schemaCostLimit) return []
    const named = this.#expensive.map((one) =>
      forbidden(one.path, 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'),
    )
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    return [...named, forbidden(path, costMessage(name, this.#total, schemaCostLimit))]
  }
}
