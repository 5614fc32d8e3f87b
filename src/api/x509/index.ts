/** Certificates and certificate requests: parsing and validation for the API server, signing for controllers. */
export { type CertificateRequest, parseCertificateRequest, signatureProblem } from './certificate-request.ts'
export { type WantedCertificate, makeRequest } from './make-request.ts'
export { pemBlocks, pemText } from './der-reader.ts'
export {
  addressBytes,
  bits,
  boolean,
  implicit,
  integer,
  objectId,
  octets,
  sequence,
  set,
  tagged,
  time,
  utf8,
} from './der.ts'
export { type SigningAuthority, knownUsages, signRequest, validityOf } from './sign-request.ts'
