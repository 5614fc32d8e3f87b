import { parseCertificateRequest } from '../../api/x509/index.ts'
import type { CertificateRequest } from '../../api/x509/index.ts'
import type { CertificateSigningRequest } from '../../api/generated/types.ts'

export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet'
export const kubeletServingSigner = 'kubernetes.io/kubelet-serving'

/** The PKCS#10 request in a CertificateSigningRequest. The API server has checked that it can be read. */
export const readRequest = ({ spec }: CertificateSigningRequest): CertificateRequest =>
  parseCertificateRequest(Buffer.from(spec.request, 'base64').toString())

/** The reason for which a signer rejects a request, in Kubernetes' words. Undefined if it signs. */
type SignerRule = (request: CertificateRequest, usages: readonly string[]) => string | undefined

const isSameSet = (a: readonly string[], b: readonly string[]) => {
  const set = new Set(a)
  return set.size === new Set(b).size && b.every((item) => set.has(item))
}

/** Only RSA keys encipher other keys, so `key encipherment` may be missing for others. */
function usagesProblem(usages: readonly string[], wanted: readonly string[]): string | undefined {
  const withoutEncipherment = wanted.filter((usage) => usage !== 'key encipherment')
  if (isSameSet(usages, wanted) || isSameSet(usages, withoutEncipherment)) return undefined
  return `usages did not match [${[...wanted].sort().join(' ')}]`
}

const isNodesGroup = ({ subject: { organizations } }: CertificateRequest) =>
  organizations.length === 1 && organizations[0] === 'system:nodes'
const isNodeName = ({ subject }: CertificateRequest) => subject.commonName.startsWith('system:node:')
const notNodesGroup = 'subject organization is not system:nodes'
const notNodeName = 'subject common name does not begin with system:node:'

/** The first problem of a list. */
const firstOf = (...problems: (string | false | undefined)[]): string | undefined =>
  problems.find((problem): problem is string => typeof problem === 'string')

/** The rule for serving certificates of nodes, which approval uses as well. */
export const kubeletServing: SignerRule = (request, usages) => {
  const { dns, addresses, emails, uris } = request.names
  return firstOf(
    !isNodesGroup(request) && notNodesGroup,
    dns.length + addresses.length === 0 && 'DNS or IP subjectAltName is required',
    emails.length > 0 && 'Email subjectAltNames are not allowed',
    uris.length > 0 && 'URI subjectAltNames are not allowed',
    usagesProblem(usages, ['key encipherment', 'digital signature', 'server auth']),
    !isNodeName(request) && notNodeName,
  )
}

/** The rule for client certificates of nodes, which approval uses as well. */
export const kubeletClient: SignerRule = (request, usages) => {
  const { dns, addresses, emails, uris } = request.names
  return firstOf(
    !isNodesGroup(request) && notNodesGroup,
    dns.length > 0 && 'DNS subjectAltNames are not allowed',
    emails.length > 0 && 'Email subjectAltNames are not allowed',
    addresses.length > 0 && 'IP subjectAltNames are not allowed',
    uris.length > 0 && 'URI subjectAltNames are not allowed',
    !isNodeName(request) && notNodeName,
    usagesProblem(usages, ['key encipherment', 'digital signature', 'client auth']),
  )
}

const clientUsages = ['digital signature', 'key encipherment', 'client auth']

const apiServerClient: SignerRule = (_request, usages) => {
  const strange = usages.find((usage) => !clientUsages.includes(usage))
  if (strange !== undefined) return `invalid usage for client certificate: ${strange}`
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth'
}

/** The signers and their rules. */
export const signers: Readonly<Record<string, SignerRule>> = {
  'kubernetes.io/kube-apiserver-client': apiServerClient,
  [kubeletClientSigner]: kubeletClient,
  [kubeletServingSigner]: kubeletServing,
}

/** True if a request has the condition, with status True. */
export const hasCondition = ({ status }: CertificateSigningRequest, type: string): boolean =>
  Boolean(status.conditions?.some((c) => c.type === type && c.status === 'True'))
