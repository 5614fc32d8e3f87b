import { X509Certificate } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { pemBlocks } from '../../../api/x509/index.ts'
import { systemClock } from '../../../base/clock.ts'
import type { ShownCertificate } from '../../auth/authenticators/client-certificate.ts'

/** The current authorities of client certificates. */
interface ClientTrust {
  readonly clients: readonly X509Certificate[]
  readonly proxies: readonly X509Certificate[]
  /** All of them in PEM, for TLS. */
  readonly all: string[]
  /** The authority of each certificate, by fingerprint. A resumed session does not repeat intermediates. */
  readonly known: Map<string, Vouched>
}

interface Vouched {
  clients: boolean
  proxies: boolean
}

interface Known {
  trust: ClientTrust | undefined
  shown: ShownCertificate | undefined
  fromMs: number
  untilMs: number
  outOfTime?: ShownCertificate
}

const mostKnown = 10_000
/** The maximum number of intermediates. */
const longestChain = 10
const uidAttribute = '1.3.6.1.4.1.57683.2'

const certificatesIn = (texts: readonly string[]): X509Certificate[] =>
  texts.flatMap((text) =>
    pemBlocks(text)
      .filter(({ label }) => label === 'CERTIFICATE')
      .map(({ bytes }) => new X509Certificate(bytes)),
  )

export function clientTrust(given: {
  clientAuthorities: readonly string[]
  proxyAuthorities?: readonly string[] | undefined
}): ClientTrust {
  const { clientAuthorities, proxyAuthorities = [] } = given
  return {
    clients: certificatesIn(clientAuthorities),
    proxies: certificatesIn(proxyAuthorities),
    all: [...clientAuthorities, ...proxyAuthorities],
    known: new Map(),
  }
}

const trusts = new WeakMap<TLSSocket, () => ClientTrust>()
const certificates = new WeakMap<TLSSocket, Known>()

/** Sets the authorities of a connection, which are read at each request. */
export const trustConnection = (socket: TLSSocket, trust: () => ClientTrust): void => void trusts.set(socket, trust)

/**
 * The verified client certificate of a connection, cached for each set of authorities. Its validity period is checked
 * at each request, as in Kubernetes: a connection does not outlive its certificate.
 */
export function certificateOf(socket: TLSSocket): ShownCertificate | undefined {
  const trust = trusts.get(socket)?.()
  let known = certificates.get(socket)
  if (!known || known.trust !== trust) certificates.set(socket, (known = readCertificate(socket, trust)))
  const { shown } = known
  if (!shown || shown.problem !== undefined) return shown
  // TLS verifies certificates by the system clock, so this does too.
  const nowMs = systemClock.now()
  if (nowMs >= known.fromMs && nowMs <= known.untilMs) return shown
  return (known.outOfTime ??= { ...shown, problem: 'the certificate has expired or is not yet valid' })
}

function readCertificate(socket: TLSSocket, trust: ClientTrust | undefined): Known {
  const leaf = socket.getPeerX509Certificate?.()
  const subject = socket.getPeerCertificate?.()?.subject as Record<string, string | string[] | undefined> | undefined
  if (!leaf || !subject) return { trust, shown: undefined, fromMs: 0, untilMs: 0 }
  const common = valuesOf(subject['CN'])
  const shown: ShownCertificate = {
    // The last common name counts, as in Go.
    commonName: common.at(-1) ?? '',
    organizations: valuesOf(subject['O']),
    uid: valuesOf(subject[uidAttribute])[0],
    fingerprint: leaf.fingerprint256.replaceAll(':', '').toLowerCase(),
    ...judge(socket, leaf, trust),
  }
  return { trust, shown, fromMs: Date.parse(leaf.validFrom), untilMs: Date.parse(leaf.validTo) }
}

const valuesOf = (value: string | string[] | undefined): string[] => (value === undefined ? [] : [value].flat())

/** Finds the authority of a certificate. TLS has already verified its chain, period and purpose. */
function judge(socket: TLSSocket, leaf: X509Certificate, trust: ClientTrust | undefined): Partial<ShownCertificate> {
  if (!socket.authorized) return { problem: String(socket.authorizationError ?? 'the certificate was not verified') }
  if (!trust) return {}
  const vouched = trust.known.get(leaf.fingerprint256) ?? {
    clients: isVouchedFor(leaf, trust.clients),
    proxies: isVouchedFor(leaf, trust.proxies),
  }
  if (!vouched.clients && !vouched.proxies) return { problem: 'the certificate is signed by an unknown authority' }
  if (trust.known.size < mostKnown) trust.known.set(leaf.fingerprint256, vouched)
  return { isProxy: vouched.proxies, isOnlyProxy: !vouched.clients }
}

/** True if an authority has signed the certificate or an intermediate of its chain. */
function isVouchedFor(leaf: X509Certificate, authorities: readonly X509Certificate[]): boolean {
  let at: X509Certificate | undefined = leaf
  for (let i = 0; i < longestChain && at; i++) {
    const current: X509Certificate = at
    if (authorities.some((ca) => current.checkIssued(ca) && current.verify(ca.publicKey))) return true
    const next: X509Certificate | undefined = current.issuerCertificate
    at = next?.ca && next.fingerprint256 !== current.fingerprint256 && current.verify(next.publicKey) ? next : undefined
  }
  return false
}
