import type { UserInfo } from '../../objects/objects.ts'
import { authenticatedGroup } from './anonymous.ts'
import type { ShownCertificate } from './client-certificate.ts'

/** The --requestheader-* flags. Header names are in lower case. */
export interface FrontProxyConfig {
  /** Allowed common names of the proxy's certificate. Empty allows any that the proxy's CA signed. */
  allowedNames: readonly string[]
  usernameHeaders: readonly string[]
  uidHeaders: readonly string[]
  groupHeaders: readonly string[]
  extraHeaderPrefixes: readonly string[]
}

export const frontProxyDefaults: FrontProxyConfig = {
  allowedNames: [],
  usernameHeaders: ['x-remote-user'],
  uidHeaders: ['x-remote-uid'],
  groupHeaders: ['x-remote-group'],
  extraHeaderPrefixes: ['x-remote-extra-'],
}

interface Headers {
  header?(name: string): string | undefined
  headersLike?(prefix: string): readonly string[]
}

/** Authenticates requests of a proxy that has authenticated the user and names it in headers. */
export class FrontProxy {
  readonly #config: FrontProxyConfig

  constructor(config: FrontProxyConfig = frontProxyDefaults) {
    this.#config = config
  }

  /** Returns undefined if no user is named or the certificate is not the proxy's. */
  userOf(headers: Headers, certificate: ShownCertificate): UserInfo | undefined {
    const { allowedNames, usernameHeaders, uidHeaders, groupHeaders } = this.#config
    const name = firstValue(headers, usernameHeaders)
    if (!name || certificate.problem !== undefined || !certificate.isProxy) return undefined
    if (allowedNames.length > 0 && !allowedNames.includes(certificate.commonName)) return undefined
    const uid = firstValue(headers, uidHeaders)
    const groups = groupHeaders.flatMap((header) => listOf(headers.header?.(header)))
    const extra = this.#extraOf(headers)
    const hasGroup = name === 'system:anonymous' || groups.includes(authenticatedGroup)
    return {
      name,
      ...(uid ? { uid } : {}),
      groups: hasGroup ? groups : [...groups, authenticatedGroup],
      ...(Object.keys(extra).length > 0 ? { extra } : {}),
    }
  }

  #extraOf(headers: Headers): Record<string, string[]> {
    const extra: Record<string, string[]> = {}
    for (const prefix of this.#config.extraHeaderPrefixes) {
      for (const header of headers.headersLike?.(prefix) ?? []) {
        const key = unescaped(header.slice(prefix.length))
        extra[key] = [...(extra[key] ?? []), ...listOf(headers.header?.(header))]
      }
    }
    return extra
  }
}

const firstValue = (headers: Headers, names: readonly string[]): string | undefined =>
  names.map((name) => headers.header?.(name)?.trim()).find((value) => value)

const listOf = (text = ''): string[] =>
  text
    .split(',')
    .map((t) => t.trim())
    .filter((t) => t !== '')

/** Keys of extra fields are percent-encoded. As in Kubernetes, an invalid encoding is kept as is. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
