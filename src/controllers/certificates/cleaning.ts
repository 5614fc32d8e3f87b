import { X509Certificate } from 'node:crypto'
import { millisecondsOf } from '../../api/object.ts'
import type { CertificateSigningRequest } from '../../api/generated/types.ts'
import { certificatesigningrequests } from '../../client/index.ts'
import { type Step, defineController } from '../kit/index.ts'

export interface Observed {
  csr: CertificateSigningRequest
  nowMs: number
}

export type CleaningAction = { kind: 'Delete' }

const hourMs = 3_600_000
const decidedMs = hourMs
const pendingMs = 24 * hourMs

/** The expiry of the issued certificate. Undefined if there is none, or it cannot be parsed. */
function expiryOf({ status }: CertificateSigningRequest): number | undefined {
  if (!status.certificate) return undefined
  try {
    return Date.parse(new X509Certificate(Buffer.from(status.certificate, 'base64')).validTo)
  } catch {
    // Another signer may issue certificates that Node cannot parse. Such a request is kept as long as other approved
    // ones.
    return undefined
  }
}

/** The times after which a request is no longer needed. */
function deadlinesOf(csr: CertificateSigningRequest): number[] {
  const conditions = csr.status.conditions ?? []
  const since = (type: string) =>
    conditions.filter((c) => c.type === type).map((c) => millisecondsOf(c.lastUpdateTime) + decidedMs)
  const expiry = expiryOf(csr)
  return [
    ...(csr.status.certificate ? since('Approved') : []),
    ...(expiry !== undefined && since('Approved').length ? [expiry] : []),
    ...since('Denied'),
    ...since('Failed'),
    ...(conditions.length === 0 ? [millisecondsOf(csr.metadata.creationTimestamp) + pendingMs] : []),
  ].filter((time) => !Number.isNaN(time))
}

/** Deletes requests that were answered an hour ago, are pending for a day, or whose certificate has expired. */
export function planCleaning({ csr, nowMs }: Observed): Step<CleaningAction> {
  const deadlines = deadlinesOf(csr)
  if (deadlines.length === 0) return { actions: [] }
  const leftMs = Math.min(...deadlines) - nowMs
  return leftMs >= 0 ? { actions: [], requeueAfterMs: leftMs + 1 } : { actions: [{ kind: 'Delete' }] }
}

/** Deletes old requests. */
export const csrCleanerController = defineController<CertificateSigningRequest, Observed, CleaningAction>({
  name: 'csrcleaner',
  owner: certificatesigningrequests,
  observe: ({ nowMs }, csr) => ({ csr, nowMs }),
  plan: planCleaning,
  apply: {
    Delete: ({ writer, owner }) =>
      writer.delete(certificatesigningrequests, owner, { resourceVersion: owner.metadata.resourceVersion }),
  },
})
