import type { CertificateSigningRequest } from '../../api/generated/types.ts'
import { parseCertificateRequest } from '../../api/x509/index.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { isFor, refusal } from './refusal.ts'

const isNewRequest = (request: AdmissionRequest) =>
  request.operation === 'CREATE' && isFor(request, 'certificates.k8s.io', 'certificatesigningrequests')

const clientSigner = 'kubernetes.io/kube-apiserver-client'

/** Rejects certificate requests for the group system:masters with the kube-apiserver-client signer. */
export const certificateSubjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  validate(request) {
    if (!isNewRequest(request)) return
    const { spec } = request.object as CertificateSigningRequest
    if (spec.signerName !== clientSigner) return
    const { subject } = parseCertificateRequest(Buffer.from(spec.request, 'base64').toString())
    if (!subject.organizations.includes('system:masters')) return
    throw refusal(request, `use of ${clientSigner} signer with system:masters group is not allowed`)
  },
}
