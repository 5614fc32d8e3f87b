import type { CertificateSigningRequest } from '../../api/generated/types.ts'
import { parseCertificateRequest } from '../../api/x509/index.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { isFor, refusal } from './refusal.ts'

const isNewRequest = (request: AdmissionRequest) =>
  request.operation === 'CREATE' && isFor(request, 'certificates.k8s.io', 'certificatesigningrequests')

/** Writes into a request for a certificate who asks for it; what its sender says about that is dropped. */
export const certificateRequestUser: AdmissionPlugin = {
  name: 'CertificateRequestUser',
  admit(request) {
    if (!isNewRequest(request)) return
    const csr = request.object as CertificateSigningRequest
    const { username: _n, uid: _u, groups: _g, extra: _e, ...spec } = csr.spec
    const { name, uid, groups, extra = {} } = request.user
    csr.spec = {
      ...spec,
      username: name,
      ...(uid ? { uid } : {}),
      ...(groups.length ? { groups: [...groups] } : {}),
      ...(Object.keys(extra).length ? { extra } : {}),
    }
  },
}

const clientSigner = 'kubernetes.io/kube-apiserver-client'

/** Nobody becomes a member of system:masters by a certificate that users may ask for. */
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
