import type { CertificateSigningRequest } from '../../api/generated/types.ts'
import { certificatesigningrequests } from '../../client/index.ts'
import { type Step, defineController } from '../kit/index.ts'
import { hasCondition, kubeletClient, kubeletClientSigner, readRequest } from './signer-rules.ts'

export type ApprovingAction = { kind: 'Approve'; message: string }

const isUndecided = (csr: CertificateSigningRequest): boolean =>
  csr.spec.signerName === kubeletClientSigner &&
  !csr.status.certificate &&
  !hasCondition(csr, 'Approved') &&
  !hasCondition(csr, 'Denied')

const messageOf = (whose: string) => `Auto approving ${whose} client certificate after SubjectAccessReview.`
const bootstrappers = 'system:bootstrappers'

/**
 * Users that get a node's certificate without a person's approval. Kubernetes asks its authorizer (create of
 * certificatesigningrequests/selfnodeclient and …/nodeclient). Until there is one, the groups count to which a cluster
 * usually gives these rights.
 */
const mayRenewOwn = (groups: readonly string[]) => groups.includes('system:nodes') || groups.includes('system:masters')
const mayJoinNodes = (groups: readonly string[]) =>
  groups.some((group) => group === bootstrappers || group.startsWith(`${bootstrappers}:`) || group === 'system:masters')

/** Approves the client certificate that a node renews, or gets when it joins. Everything else waits for a person. */
export function planApproving(csr: CertificateSigningRequest): Step<ApprovingAction> {
  if (!isUndecided(csr)) return { actions: [] }
  const request = readRequest(csr)
  if (kubeletClient(request, csr.spec.usages ?? []) !== undefined) return { actions: [] }
  const { username, groups = [] } = csr.spec
  const approve = (message: string): Step<ApprovingAction> => ({ actions: [{ kind: 'Approve', message }] })
  if (username === request.subject.commonName && mayRenewOwn(groups)) return approve(messageOf('self kubelet'))
  if (mayJoinNodes(groups)) return approve(messageOf('kubelet'))
  return { actions: [] }
}

type Csr = CertificateSigningRequest

/** Approves client certificates of nodes. */
export const csrApprovingController = defineController<Csr, Csr, ApprovingAction>({
  name: 'csrapproving',
  owner: certificatesigningrequests,
  looksAt: isUndecided,
  observe: (_ctx, csr) => csr,
  plan: planApproving,
  apply: {
    Approve({ writer, owner }, { message }) {
      const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved', message }
      const { resourceVersion } = owner.metadata
      const patch = {
        metadata: { resourceVersion },
        status: { conditions: [...(owner.status.conditions ?? []), approved] },
      }
      return writer.patch(certificatesigningrequests, owner, patch, { type: 'merge', subresource: 'approval' })
    },
  },
})
