import type { PolicyRule } from '../../../api/generated/types.ts'
import { type Attempt, isPathAttempt, nameOf } from '../authorize.ts'

/** One rule of a role, indexed for lookup, with the binding that grants it. */
export interface Grant<By = unknown> {
  readonly verbs: ReadonlySet<string>
  readonly isAnyVerb: boolean
  readonly by: By
}

/** An attempt with its lookup keys, computed once for all tables. */
export interface Lookup {
  readonly verb: string
  readonly name: string
  readonly keys: readonly string[]
  /** The path of a non-resource request. */
  readonly url: string | undefined
}

const any = '*'
const keyOf = (group: string, resource: string): string => `${group} ${resource}`

/**
 * Computes the lookup keys of an attempt. A rule matches by group or `*`, and by resource or `*`. A subresource is also
 * matched by `*` in place of its resource.
 */
export function lookupOf(attempt: Attempt): Lookup {
  if (isPathAttempt(attempt)) return { verb: attempt.verb, name: '', keys: [], url: attempt.url }
  const { group, plural, subresource } = attempt.path
  const resource = subresource === '' ? plural : `${plural}/${subresource}`
  const keys = [keyOf(group, resource), keyOf(any, resource), keyOf(group, any), keyOf(any, any)]
  if (subresource !== '') keys.push(keyOf(group, `*/${subresource}`), keyOf(any, `*/${subresource}`))
  return { verb: attempt.verb, name: nameOf(attempt), keys, url: undefined }
}

/**
 * The rules of one subject in one scope, by group and resource. A lookup takes at most twelve map accesses, however
 * many roles there are.
 */
export class RuleTable<By = unknown> {
  readonly #grants = new Map<string, Grant<By>[]>()
  /** Rules with resourceNames, by key and name. */
  readonly #named = new Map<string, Grant<By>[]>()
  /** Keyed by path; a path that ends in `*` by its prefix. */
  readonly #paths = new Map<string, Grant<By>[]>()
  readonly #prefixes = new Map<string, Grant<By>[]>()

  add(rules: readonly PolicyRule[], by: By): void {
    for (const rule of rules) this.#addRule(rule, by)
  }

  /** Returns the first grant that allows the attempt. */
  find({ verb, name, keys, url }: Lookup): Grant<By> | undefined {
    if (url !== undefined) return this.#findPath(verb, url)
    const looksAtNames = name !== '' && this.#named.size > 0
    for (const key of keys) {
      const found =
        allowing(this.#grants.get(key), verb) ??
        (looksAtNames ? allowing(this.#named.get(`${key} ${name}`), verb) : undefined)
      if (found) return found
    }
    return undefined
  }

  #findPath(verb: string, url: string): Grant<By> | undefined {
    const exact = allowing(this.#paths.get(url), verb)
    if (exact) return exact
    for (const [prefix, grants] of this.#prefixes) {
      const found = url.startsWith(prefix) ? allowing(grants, verb) : undefined
      if (found) return found
    }
    return undefined
  }

  #addRule(
    { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule,
    by: By,
  ): void {
    const grant: Grant<By> = { verbs: new Set(verbs), isAnyVerb: verbs.includes(any), by }
    for (const group of apiGroups) {
      for (const resource of resources) {
        const key = keyOf(group, resource)
        if (resourceNames.length === 0) put(this.#grants, key, grant)
        for (const name of resourceNames) put(this.#named, `${key} ${name}`, grant)
      }
    }
    for (const url of nonResourceURLs) {
      if (url.endsWith(any)) put(this.#prefixes, url.slice(0, -1), grant)
      else put(this.#paths, url, grant)
    }
  }
}

const allowing = <By>(grants: readonly Grant<By>[] | undefined, verb: string): Grant<By> | undefined =>
  grants?.find(({ isAnyVerb, verbs }) => isAnyVerb || verbs.has(verb))

/** Keeps the first of several equal rules: a lookup could never return the others. */
function put<By>(map: Map<string, Grant<By>[]>, key: string, grant: Grant<By>): void {
  const known = map.get(key)
  if (!known) map.set(key, [grant])
  else if (!known.some((other) => covers(other, grant))) known.push(grant)
}

const covers = (one: Grant, other: Grant): boolean =>
  one.isAnyVerb || (!other.isAnyVerb && [...other.verbs].every((verb) => one.verbs.has(verb)))
