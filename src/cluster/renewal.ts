import { X509Certificate } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import type { KeyPair } from '../server/index.ts'

/** A certificate is issued anew when it is valid for no longer than this. */
export const renewBeforeMs = 30 * 24 * 3_600_000
const everyMs = 60_000

/** The times of a certificate in PEM, in milliseconds. */
export function validityOf(certificate: string): { fromMs: number; untilMs: number } {
  const { validFrom, validTo } = new X509Certificate(certificate)
  return { fromMs: Date.parse(validFrom), untilMs: Date.parse(validTo) }
}

/** Why a certificate cannot be used at this time, in one sentence; undefined if it can. */
export function timeProblem(what: string, certificate: string, nowMs: number): string | undefined {
  const { fromMs, untilMs } = validityOf(certificate)
  const at = (ms: number) => new Date(ms).toISOString()
  const now = `and the clock of this machine says ${at(nowMs)}`
  if (nowMs < fromMs) return `${what} is not valid before ${at(fromMs)}, ${now}`
  if (nowMs > untilMs) return `${what} has expired at ${at(untilMs)}, ${now}`
  return undefined
}

/** A pair that is always valid: its members are those of the latest one. */
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

  /** Issues another if the end is near, or the clock was set back before the beginning. True if it has. */
  renew(nowMs: number): boolean {
    if (nowMs >= this.#times.fromMs && nowMs < this.#times.untilMs - renewBeforeMs) return false
    this.#pair = this.#issue(nowMs)
    this.#times = validityOf(this.#pair.certificate)
    return true
  }
}

export interface Renewal {
  what: string
  /** Renews where it is time. True if it has. */
  renew(nowMs: number): boolean
}

/** Renews certificates before they end, as long as the process runs. The answered function ends it. */
export function keepRenewed(renewals: readonly Renewal[], clock: Clock, logger: Logger): () => void {
  const look = () => {
    for (const { what, renew } of renewals) {
      try {
        if (renew(clock.now())) logger.info('a certificate was renewed', { what })
      } catch (error) {
        logger.warn('a certificate could not be renewed', { what, error })
      }
    }
    cancel = clock.after(everyMs, look)
  }
  let cancel = clock.after(everyMs, look)
  return () => cancel()
}
