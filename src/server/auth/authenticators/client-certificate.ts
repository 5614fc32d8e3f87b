import type { UserInfo } from '../../objects/objects.ts'
import { authenticatedGroup } from './anonymous.ts'

/** The client certificate of a connection, as far as authentication needs it. */
export interface ShownCertificate {
  readonly commonName: string
  readonly organizations: readonly string[]
  /** The value of the subject attribute 1.3.6.1.4.1.57683.2. */
  readonly uid?: string | undefined
  /** SHA-256 of the certificate in hex, which tells one credential from another. */
  readonly fingerprint?: string | undefined
  /** Why no authority vouches for it now: another CA, expired, not yet valid, not for clients. */
  readonly problem?: string | undefined
  /** True for a certificate that only the front proxy's authority vouches for: it is no user's. */
  readonly isOnlyProxy?: boolean | undefined
  /** True if the front proxy's authority vouches for it. */
  readonly isProxy?: boolean | undefined
}

export const credentialId = 'authentication.kubernetes.io/credential-id'

/** A connection shows one certificate for all its requests. */
const users = new WeakMap<ShownCertificate, UserInfo>()

/** The user of a certificate: the common name, and the organizations as groups. Undefined for one that is no user's. */
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
