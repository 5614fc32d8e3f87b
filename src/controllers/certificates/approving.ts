import { deepEqual } from '../../api/deep-equal.ts'
import type { CertificateSigningRequest, Node } from '../../api/generated/types.ts'
import { type CertificateRequest, addressBytes } from '../../api/x509/index.ts'
import { certificatesigningrequests, nodes } from '../../client/index.ts'
import { type Step, defineController, watching } from '../kit/index.ts'
import {
  hasCondition,
  kubeletClient,
  kubeletClientSigner,
  kubeletServing,
  kubeletServingSigner,
  readRequest,
} from './signer-rules.ts'

export type ApprovingAction = { kind: 'Approve'; message: string }

const isServing = ({ spec }: CertificateSigningRequest) => spec.signerName === kubeletServingSigner

const isUndecided = (csr: CertificateSigningRequest): boolean =>
  (csr.spec.signerName === kubeletClientSigner || isServing(csr)) &&
  !csr.status.certificate &&
  !hasCondition(csr, 'Approved') &&
  !hasCondition(csr, 'Denied')

const messageOf = (whose: string) => `Auto approving ${whose} client certificate after SubjectAccessReview.`
const bootstrappers = 'system:bootstrappers'

/**
 * The groups whose requests are approved automatically. Kubernetes asks its authorizer (create of
 * certificatesigningrequests/selfnodeclient and …/nodeclient). These are the groups that usually have the rights.
 */
const mayRenewOwn = (groups: readonly string[]) => groups.includes('system:nodes') || groups.includes('system:masters')
const mayJoinNodes = (groups: readonly string[]) =>
  groups.some((group) => group === bootstrappers || group.startsWith(`${bootstrappers}:`) || group === 'system:masters')

const userPrefix = 'system:node:'

/** The name of the requesting node. Undefined for other users. */
const askingNode = ({ spec }: CertificateSigningRequest): string | undefined =>
  spec.username?.startsWith(userPrefix) && spec.groups?.includes('system:nodes')
    ? spec.username.slice(userPrefix.length)
    : undefined

/** True if every requested name belongs to the Node. */
function areNamesOf({ names }: CertificateRequest, { status }: Node): boolean {
  const known = (status?.addresses ?? []).map(({ type, address }) => ({ isIp: type.endsWith('IP'), address }))
  const ips = known.filter(({ isIp }) => isIp).map(({ address }) => addressBytes(address))
  const dns = known.filter(({ isIp }) => !isIp).map(({ address }) => address)
  return names.addresses.every((one) => ips.some((ip) => ip.equals(one))) && names.dns.every((one) => dns.includes(one))
}

/** Approves the serving certificate of a node for addresses in its Node object. */
function planServing(csr: CertificateSigningRequest, node: Node | undefined): Step<ApprovingAction> {
  const request = readRequest(csr)
  const isOwn = askingNode(csr) !== undefined && csr.spec.username === request.subject.commonName
  if (!isOwn || kubeletServing(request, csr.spec.usages ?? []) !== undefined) return { actions: [] }
  if (!node || !areNamesOf(request, node)) return { actions: [] }
  const message = 'Auto approving kubelet serving certificate for addresses of its Node.'
  return { actions: [{ kind: 'Approve', message }] }
}

/**
 * Approves the client certificate of a node that joins or renews, and its serving certificate. Other requests wait for
 * an administrator.
 */
export function planApproving(csr: CertificateSigningRequest, node?: Node): Step<ApprovingAction> {
  if (!isUndecided(csr)) return { actions: [] }
  if (isServing(csr)) return planServing(csr, node)
  const request = readRequest(csr)
  if (kubeletClient(request, csr.spec.usages ?? []) !== undefined) return { actions: [] }
  const { username, groups = [] } = csr.spec
  const approve = (message: string): Step<ApprovingAction> => ({ actions: [{ kind: 'Approve', message }] })
  if (username === request.subject.commonName && mayRenewOwn(groups)) return approve(messageOf('self kubelet'))
  if (mayJoinNodes(groups)) return approve(messageOf('kubelet'))
  return { actions: [] }
}

type Csr = CertificateSigningRequest

interface Observed {
  csr: Csr
  /** The requesting node, if any. */
  node: Node | undefined
}

/** Approves certificates of nodes. */
export const csrApprovingController = defineController<Csr, Observed, ApprovingAction>({
  name: 'csrapproving',
  owner: certificatesigningrequests,
  sources: {
    looksAt: isUndecided,
    watches: [
      watching<Node>(
        nodes,
        ({ metadata }, caches) =>
          caches
            .list(certificatesigningrequests)
            .filter((csr) => isServing(csr) && askingNode(csr) === metadata.name)
            .map((csr) => csr.metadata.name!),
        (before, after) => !deepEqual(before.status?.addresses, after.status?.addresses),
      ),
    ],
  },
  observe: ({ caches }, csr) => ({ csr, node: caches.get(nodes, '', askingNode(csr) ?? '') }),
  plan: ({ csr, node }) => planApproving(csr, node),
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
