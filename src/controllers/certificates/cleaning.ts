import { X509Certificate } from 'node:crypto'
import { millisecondsOf } from '../../api/timestamp.ts'
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

/** The expiry of the issued certificate; undefined if there is none, or one that cannot be read. */
function expiryOf({ status }: CertificateSigningRequest): number | undefined {
  if (!status.certificate) return undefined
  try {
    return Date.parse(new X509Certificate(Buffer.from(status.certificate, 'base64')).validTo)
  } catch {
    // Another signer may issue what Node cannot read. Such a request stays for as long as any that was approved.
    return undefined
  }
}

/** The times after each of which a request has served its purpose. */
function deadlinesOf(csr: CertificateSigningRequest): number[] {
  const conditions = csr.status.conditions ?? []
  const since = (type: string) => conditions.filter((c) => c.type === type).map(
    (c) => millisecondsOf(c.lastUpdateTime) + decidedMs,
  )
  const expiry = expiryOf(csr)
  return [
    ...(csr.status.certificate ? since('Approved') : []),
    ...(expiry !== undefined && since('Approved').length ? [expiry] : []),
    ...since('Denied'),
    ...since('Failed'),
    ...(conditions.length === 0 ? [millisecondsOf(csr.metadata.creationTimestamp) + pendingMs] : []),
  ].filter((time) => !Number.isNaN(time))
}

/** Deletes requests that were answered an hour ago, are undecided for a day, or whose certificate has expired. */
export function planCleaning({ csr, nowMs }: Observed): Step<CleaningAction> {
  const deadlines = deadlinesOf(csr)
  if (deadlines.length === 0) return { actions: [] }
  const leftMs = Math.min(...deadlines) - nowMs
  return leftMs >= 0 ? { actions: [], requeueAfterMs: leftMs + 1 } : { actions: [{ kind: 'Delete' }] }
}

/** Keeps answered requests from piling up. */
export const csrCleanerController = defineController<CertificateSigningRequest, Observed, CleaningAction>({
  name: 'csrcleaner',
  owner: certificatesigningrequests,
  observe: ({ nowMs }, csr) => ({ csr, nowMs }),
  plan: planCleaning,
  apply: {
    Delete: ({ writer, owner }) => writer.delete(
      certificatesigningrequests,
      owner,
      { resourceVersion: owner.metadata.resourceVersion },
    ),
  },
})
