import type { UserInfo } from '../../objects/objects.ts'
import { authenticatedGroup } from './anonymous.ts'

/** The parts of a connection's client certificate that authentication needs. */
export interface ShownCertificate {
  readonly commonName: string
  readonly organizations: readonly string[]
  /** The user's UID: Kubernetes' subject attribute 1.3.6.1.4.1.57683.2. */
  readonly uid?: string | undefined
  /** The SHA-256 fingerprint in hex, which identifies the credential. */
  readonly fingerprint?: string | undefined
  /** Why the certificate is invalid: unknown CA, expired, not yet valid, not for client authentication. */
  readonly problem?: string | undefined
  /** True if only the front proxy's CA signed it, so that it identifies no user. */
  readonly isOnlyProxy?: boolean | undefined
  /** True if the front proxy's CA signed it. */
  readonly isProxy?: boolean | undefined
}

export const credentialId = 'authentication.kubernetes.io/credential-id'

/** Memoizes users: all requests of a connection share one certificate. */
const users = new WeakMap<ShownCertificate, UserInfo>()

/** The user of a certificate: common name as user name, organizations as groups. Undefined if it identifies no user. */
export function userOfCertificate(certificate: ShownCertificate): UserInfo | undefined {
  const { commonName, organizations, uid, fingerprint, problem, isOnlyProxy } = certificate
  if (problem !== undefined || isOnlyProxy || commonName === '') return undefined
  const known = users.get(certificate)
  if (known) return known
  const user: UserInfo = {
    name: commonName,
    ...(uid ? { uid } : {}),
    groups: [...organizations, authenticatedGroup],
    ...(fingerprint ? { extra: { [credentialId]: [`X509SHA256=${fingerprint}`] } } : {}),
  }
  users.set(certificate, user)
  return user
}
