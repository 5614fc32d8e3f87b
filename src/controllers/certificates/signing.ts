import { randomBytes } from 'node:crypto'
import { timestamp } from '../../api/object.ts'
import { type SigningAuthority, signRequest, validityOf } from '../../api/x509/index.ts'
import type { CertificateSigningRequest } from '../../api/generated/types.ts'
import { certificatesigningrequests } from '../../client/index.ts'
import { type Step, defineController } from '../kit/index.ts'
import { hasCondition, readRequest, signers } from './signer-rules.ts'

export type SigningAction = { kind: 'Sign' } | { kind: 'Fail'; message: string }

/** Requests that one of our signers has to answer. */
const isToBeSigned = (csr: CertificateSigningRequest): boolean =>
  Object.hasOwn(signers, csr.spec.signerName) &&
  hasCondition(csr, 'Approved') &&
  !hasCondition(csr, 'Denied') &&
  !hasCondition(csr, 'Failed') &&
  !csr.status.certificate

/** Signs approved requests. A request that violates the signer's rules fails permanently. */
export function planSigning(csr: CertificateSigningRequest): Step<SigningAction> {
  if (!isToBeSigned(csr)) return { actions: [] }
  const problem = signers[csr.spec.signerName]!(readRequest(csr), csr.spec.usages ?? [])
  return { actions: [problem === undefined ? { kind: 'Sign' } : { kind: 'Fail', message: problem }] }
}

const minSeconds = 600

/** The lifetime of a certificate: as requested, from ten minutes up to the maximum. */
export function durationMs(expirationSeconds: number | undefined, longestMs: number): number {
  if (expirationSeconds === undefined) return longestMs
  return Math.min(Math.max(expirationSeconds, minSeconds) * 1000, longestMs)
}

/** Signs approved requests with the cluster's authority. */
export const csrSigningController = (authority: SigningAuthority, longestMs: number) =>
  defineController<CertificateSigningRequest, CertificateSigningRequest, SigningAction>({
    name: 'csrsigning',
    owner: certificatesigningrequests,
    sources: { looksAt: isToBeSigned },
    observe: (_ctx, csr) => csr,
    plan: planSigning,
    apply: {
      Sign({ writer, owner, nowMs }) {
        const validity = validityOf(durationMs(owner.spec.expirationSeconds, longestMs), nowMs, authority)
        const certificate = signRequest(
          readRequest(owner),
          owner.spec.usages ?? [],
          validity,
          authority,
          randomBytes(16),
        )
        const status = { ...owner.status, certificate: Buffer.from(certificate).toString('base64') }
        return writer.updateStatus(certificatesigningrequests, { ...owner, status })
      },
      Fail({ writer, owner, nowMs }, { message }) {
        const failed = {
          type: 'Failed',
          status: 'True',
          reason: 'SignerValidationFailure',
          message,
          lastUpdateTime: timestamp(nowMs),
        }
        const conditions = [...(owner.status.conditions ?? []), failed]
        return writer.updateStatus(certificatesigningrequests, { ...owner, status: { ...owner.status, conditions } })
      },
    },
  })
