import { ApiError } from '../../../api/errors.ts'
import { countOf } from '../../../api/printing/plural.ts'
import type { Clock } from '../../../base/clock.ts'
import type { Logger } from '../../../base/logger.ts'
import type { Random } from '../../../base/random.ts'

/** A permission that the server has denied. */
export interface Permission {
  verb: string
  /** With its subresource: `statefulsets/status`. */
  resource: string
  group: string
  /** The words of the server: `User "ann" cannot patch resource "statefulsets/status" in API group "apps"`. */
  sentence: string
}

/**
 * The permission that a request lacked. Undefined for any other error, including those of admission, which have the
 * code 403 as well.
 */
export function permissionLacking(error: unknown): Permission | undefined {
  if (!(error instanceof ApiError) || error.code !== 403) return undefined
  const pattern = /User "(?:[^"\\]|\\.)*" cannot (\S+) resource "([^"]+)" in API group "([^"]*)"/
  const [sentence, verb, resource, group] = pattern.exec(error.message) ?? []
  return sentence === undefined ? undefined : { verb: verb!, resource: resource!, group: group!, sentence }
}

/** The keys that wait for one permission. */
interface Denial {
  permission: Permission
  /** In the order in which they are retried after a success. */
  keys: Set<string>
  /** The key that is retried every two to four seconds. */
  probe: string
}

const probeMs = 2000
/** The log repeats at most once in this time that a permission is lacking, if it was granted in between. */
const logMs = 600_000
/** All retries of other keys together, per second. */
const retriesPerSecond = 20

interface DenialsParts {
  clock: Clock
  random: Random
  logger: Logger
  /** Called with the number of keys that wait for a permission. */
  changed?: (permission: Permission, keys: number) => void
}

/**
 * The keys whose last reconcile lacked a permission. One of them is retried every few seconds, so that a grant is
 * noticed soon; the others seldom, so that ten thousand do not load the server. After a grant each success retries two
 * more, and ten thousand keys have been retried after 14 rounds.
 */
export class Denials {
  readonly #parts: DenialsParts
  /** By the sentence of the permission. */
  readonly #denials = new Map<string, Denial>()
  /** By key. */
  readonly #sentences = new Map<string, string>()
  /** By the sentence of a permission: the time at which the log last said that it is lacking. */
  readonly #loggedAtMs = new Map<string, number>()

  constructor(parts: DenialsParts) {
    this.#parts = parts
  }

  /** A reconcile lacked a permission. Returns the time until the key is to be retried, and keys to retry now. */
  denied(key: string, permission: Permission): { delayMs: number; retry: string[] } {
    const { sentence } = permission
    // A reconcile that now lacks another permission got further than before.
    const retry = this.#sentences.get(key) === sentence ? [] : this.ended(key, true)
    let denial = this.#denials.get(sentence)
    if (!denial) this.#denials.set(sentence, (denial = { permission, keys: new Set(), probe: key }))
    denial.keys.add(key)
    this.#sentences.set(key, sentence)
    this.#log(permission, key)
    this.#parts.changed?.(permission, denial.keys.size)
    const shareMs = denial.probe === key ? 0 : (denial.keys.size * 1000) / retriesPerSecond
    return { delayMs: Math.max(probeMs, shareMs) * (1 + this.#parts.random.next()), retry }
  }

  /** A reconcile ended in another way, or its owner is gone. Returns the keys to retry now. */
  ended(key: string, hasSucceeded: boolean): string[] {
    const denial = this.#denials.get(this.#sentences.get(key) ?? '')
    if (!denial) return []
    const { keys, permission } = denial
    keys.delete(key)
    this.#sentences.delete(key)
    if (keys.size === 0) this.#denials.delete(permission.sentence)
    this.#parts.changed?.(permission, keys.size)
    const retry: string[] = []
    for (const next of keys) {
      if (retry.length === (hasSucceeded ? 2 : denial.probe === key ? 1 : 0)) break
      retry.push(next)
    }
    // The next success retries others.
    for (const next of retry) {
      keys.delete(next)
      keys.add(next)
    }
    if (denial.probe === key && retry.length > 0) denial.probe = retry[0]!
    return retry
  }

  /** Says that a permission is lacking: once, not for each object. */
  #log({ sentence }: Permission, key: string): void {
    const { clock, logger } = this.#parts
    const nowMs = clock.now()
    if (nowMs - (this.#loggedAtMs.get(sentence) ?? -Infinity) < logMs) return
    this.#loggedAtMs.set(sentence, nowMs)
    logger.warn('a permission is lacking; requests that need it are retried', { permission: sentence, key })
  }

  /** A sentence for each permission that is lacking. */
  problems(): string[] {
    return [...this.#denials.values()].map(
      ({ permission: { sentence }, keys }) =>
        `${sentence}: ${countOf(keys.size, 'object waits', 'objects wait')} for it`,
    )
  }

  /** Forgets everything. */
  close(): void {
    for (const { permission } of this.#denials.values()) this.#parts.changed?.(permission, 0)
    this.#denials.clear()
    this.#sentences.clear()
  }
}
