import { X509Certificate } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { KeyPair } from '../../server/index.ts'

/** A certificate is renewed when it expires within this time. */
const renewBeforeMs = 30 * 24 * 3_600_000
const everyMs = 60_000

/** Returns the validity of a PEM certificate in milliseconds. */
export function validityOf(certificate: string): { fromMs: number; untilMs: number } {
  const { validFrom, validTo } = new X509Certificate(certificate)
  return { fromMs: Date.parse(validFrom), untilMs: Date.parse(validTo) }
}

/** Returns a sentence if a certificate is not valid at this time. */
export function timeProblem(what: string, certificate: string, nowMs: number): string | undefined {
  const { fromMs, untilMs } = validityOf(certificate)
  const at = (ms: number) => new Date(ms).toISOString()
  const now = `and the clock of this machine says ${at(nowMs)}`
  if (nowMs < fromMs) return `${what} is not valid before ${at(fromMs)}, ${now}`
  if (nowMs > untilMs) return `${what} has expired at ${at(untilMs)}, ${now}`
  return undefined
}

/** A key pair whose members are those of its latest renewal. */
export class RenewedPair implements KeyPair {
  readonly #issue: (nowMs: number) => KeyPair
  #pair: KeyPair
  #times: { fromMs: number; untilMs: number }

  constructor(issue: (nowMs: number) => KeyPair, nowMs: number) {
    this.#issue = issue
    this.#pair = issue(nowMs)
    this.#times = validityOf(this.#pair.certificate)
  }

  get certificate(): string {
    return this.#pair.certificate
  }

  get key(): string {
    return this.#pair.key
  }

  /** Issues a new pair if expiry is near, or if the clock was set back before its start. Returns true if it did. */
  renew(nowMs: number): boolean {
    if (nowMs >= this.#times.fromMs && nowMs < this.#times.untilMs - renewBeforeMs) return false
    this.#pair = this.#issue(nowMs)
    this.#times = validityOf(this.#pair.certificate)
    return true
  }
}

export interface Renewal {
  what: string
  /** Renews if it is time. Returns true if it did. */
  renew(nowMs: number): boolean
}

/** Renews certificates before they expire, until the returned function is called. */
export function keepRenewed(renewals: readonly Renewal[], clock: Clock, logger: Logger): () => void {
  const check = () => {
    for (const { what, renew } of renewals) {
      try {
        if (renew(clock.now())) logger.info('renewed a certificate', { what })
      } catch (error) {
        logger.warn('failed to renew a certificate', { what, error })
      }
    }
    cancel = clock.after(everyMs, check)
  }
  let cancel = clock.after(everyMs, check)
  return () => cancel()
}
